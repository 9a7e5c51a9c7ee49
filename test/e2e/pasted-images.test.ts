/** Images that a person pastes into a conversation on a real terminal: by path, and from a clipboard whose program the test provides. */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { callCli } from "../fakes/cli-call.ts";
import { createCliHome, openCliTerminal } from "../fakes/cli-process.ts";

const ENTER = "\r";
const CTRL_D = "\u0004";
const CTRL_V = "\u0016";
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const IMAGE = { type: "image", media_type: "image/png", data: PIXEL };

test("a dropped file, a typed path and the clipboard join the input as images", async () => {
  const home = createCliHome({ WAYLAND_DISPLAY: "wayland-test" });
  const outside = dirname(home.workspace);
  const shot = join(outside, "my shot.png");
  writeFileSync(shot, Buffer.from(PIXEL, "base64"));
  const bin = join(outside, "bin");
  mkdirSync(bin);
  const script = `#!/bin/sh\ncase "$1" in --list-types) echo image/png ;; *) cat '${shot}' ;; esac\n`;
  writeFileSync(join(bin, "wl-paste"), script);
  chmodSync(join(bin, "wl-paste"), 0o755);
  const env = { ...home.env, PATH: `${bin}:${home.env.PATH}` };
  const terminal = openCliTerminal({ ...home, env }, ["run", "--plain", "-m", "scripted:offline"]);
  await terminal.see("› ");
  terminal.type(`\u001b[200~${shot.replaceAll(" ", "\\ ")} \u001b[201~ and ${CTRL_V}`);
  await terminal.see("[image 1: my shot.png]");
  await terminal.see("[image 2]");
  terminal.type(ENTER);
  await terminal.see("offline");
  await terminal.see("› ");
  terminal.type(`'${shot}'${ENTER}`);
  await terminal.see("offline");
  await terminal.see("› ");
  terminal.type(CTRL_D);
  expect(await terminal.exit).toBe(0);
  const { out } = await callCli(home, ["sessions", "list", "--json"]);
  const [{ id }] = JSON.parse(out);
  const log = await callCli(home, ["sessions", "export", id]);
  const sent = log.out
    .split("\n")
    .filter((line) => line.includes('"TurnStarted"'))
    .map((line) => JSON.parse(line).payload.content);
  expect(sent).toEqual([
    [IMAGE, IMAGE, { type: "text", text: "[image 1: my shot.png] and [image 2]" }],
    [IMAGE, { type: "text", text: "[image 3: my shot.png]" }],
  ]);
});
