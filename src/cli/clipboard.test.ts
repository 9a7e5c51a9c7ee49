import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { createClipboard } from "./clipboard.ts";

const PNG = "\\211PNG\\r\\n\\032\\n";

/** A desktop with these programs, each a shell script. */
function desktop(programs: Readonly<Record<string, string>>, env: Readonly<Record<string, string>>) {
  const bin = mkdtempSync(join(tmpdir(), "harness-clipboard-"));
  onTestFinished(() => rmSync(bin, { recursive: true, force: true }));
  for (const [name, script] of Object.entries(programs)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  const clock = createManualClock();
  const on = (platform: NodeJS.Platform) =>
    createClipboard({ platform, env: { PATH: `${bin}:/usr/bin:/bin`, ...env }, cwd: "/nowhere", clock });
  return { clock, on };
}

const wayland = (image: string): string =>
  `case "$*" in --list-types) printf 'text/html\\nimage/jpeg\\nimage/png\\n' ;; *"--type image/png") ${image} ;; *) exit 1 ;; esac`;

test("wl-paste is used on Wayland, and an image without loss is preferred", async () => {
  const { on } = desktop(
    { "wl-paste": wayland(`printf '${PNG}'; printf "$WAYLAND_DISPLAY"`) },
    { WAYLAND_DISPLAY: "w" },
  );
  expect((await on("linux")(100)).toString()).toContain("PNG\r\n\u001a\nw");
});

test("xclip is used on X11, and on Wayland where wl-paste is missing", async () => {
  const script = `case "$*" in *TARGETS*) echo image/png ;; *"-t image/png -o") printf '${PNG}' ;; *) exit 1 ;; esac`;
  for (const env of [{ DISPLAY: ":0" }, { DISPLAY: ":0", WAYLAND_DISPLAY: "w" }]) {
    const { on } = desktop({ xclip: script }, env);
    expect((await on("linux")(100)).length).toBe(8);
  }
});

test("pngpaste is used on macOS", async () => {
  const { on } = desktop({ pngpaste: `test "$1" = - && printf '${PNG}'` }, {});
  expect((await on("darwin")(100)).length).toBe(8);
});

test("what is missing is named", async () => {
  const refused = (env: Readonly<Record<string, string>>, platform: NodeJS.Platform, programs = {}) =>
    expect(desktop(programs, env).on(platform)(100)).rejects;
  await refused({}, "linux").toThrow(/belongs to no desktop.*Give the path/);
  await refused({ WAYLAND_DISPLAY: "w" }, "linux").toThrow("Install wl-clipboard (for wl-paste)");
  await refused({ DISPLAY: ":0" }, "linux").toThrow("Install xclip");
  await refused({}, "darwin").toThrow("Install pngpaste");
  await refused({}, "darwin", { pngpaste: "exit 1" }).toThrow("the clipboard has no image");
  await refused({ DISPLAY: ":0" }, "linux", { xclip: "echo UTF8_STRING" }).toThrow("the clipboard has no image");
});

test("a clipboard without end or without an answer is given up", async () => {
  const large = desktop({ "wl-paste": wayland("exec yes") }, { WAYLAND_DISPLAY: "w" });
  await expect(large.on("linux")(100_000)).rejects.toThrow("more than 100000 bytes");
  const silent = desktop({ "wl-paste": "exec sleep 600" }, { WAYLAND_DISPLAY: "w" });
  const read = expect(silent.on("linux")(100)).rejects.toThrow("wl-paste did not answer within 5 s");
  await silent.clock.advance(5000);
  await read;
});
