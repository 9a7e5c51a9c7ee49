/** The examples of plugins in a real daemon: a wire that a peer uses with a token, words that a terminal types, a hook that holds. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createConnection, type Socket } from "node:net";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { type CliHome, createCliHome, openCliTerminal } from "../fakes/cli-process.ts";
import { daemonPlace, startDaemonRun } from "../fakes/daemon-run.ts";

const MODEL = `
name: writer
rules:
  - when: { tool: fs.write }
    reply: [{ text: "The write has ended." }]
  - when: { input: "/frozen/" }
    reply: [{ tool: fs.write, args: { path: src/a.txt, content: made } }]
otherwise: [{ text: "Nothing to do." }]
`;

function configure(home: CliHome, ...names: readonly string[]): void {
  const tables = names.map((name) => {
    const path = resolve(import.meta.dirname, "../../examples/plugin", `${name}.mjs`);
    const sha256 = createHash("sha256").update(readFileSync(path)).digest("hex");
    return `[plugins.${name}]\npath = "${path}"\nsha256 = "${sha256}"\n`;
  });
  const file = join(home.env.XDG_CONFIG_HOME ?? join(home.env.HOME ?? "", ".config"), "harness/config.toml");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, tables.join(""));
}

/** Speaks the wire of the example: a line in, and the next line of that kind out. */
function speak(socket: Socket) {
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  return async (value: object, kind: string): Promise<unknown> => {
    socket.write(`${JSON.stringify(value)}\n`);
    for (;;) {
      const { value: line, done } = await lines.next();
      if (done === true) throw new Error("the connection ended");
      const answer: unknown = JSON.parse(line);
      const found: unknown = Reflect.get(Object(answer), kind);
      if (found !== undefined) return found;
    }
  };
}

test("a wire of a plugin: nothing without a token, and with one what the token allows", async () => {
  const home = createCliHome();
  configure(home, "lines-wire");
  const { flags, tokenFile } = daemonPlace(home);
  const path = join(home.workspace, "..", "l.sock");
  const model = home.put("model.yaml", MODEL);
  const listen = [...flags, "--listen", `lines+unix:${path}`, "--model", `scripted:${model}`];
  const daemon = await startDaemonRun(home, ...listen);
  expect(daemon.said()).toContain(`listening on lines+unix:${path}\n`);
  const connected = async () => {
    const socket = createConnection(path);
    onTestFinished(() => void socket.destroy());
    await once(socket, "connect");
    return speak(socket);
  };
  const stranger = await connected();
  expect(await stranger({ token: "made-up" }, "error")).toMatchObject({ reason: "TokenInvalid" });
  const ask = await connected();
  const token = readFileSync(tokenFile, "utf8").trim();
  expect(await ask({ token }, "handshake")).toMatchObject({ client: expect.any(String) });
  expect(await ask({ kind: "Nonsense" }, "error")).toMatchObject({ reason: "InvalidCommand" });
  const made = (await ask({ kind: "CreateSession", working_dir: home.workspace }, "reply")) as { session: string };
  const content = [{ type: "text", text: "hello" }];
  const started = ask({ kind: "SendInput", session: made.session, content }, "event");
  expect(await started).toMatchObject({ session: made.session });
});

test("a wire that no plugin has is refused by its name", async () => {
  const home = createCliHome();
  const refused = startDaemonRun(home, "--listen", `lines+unix:${join(home.workspace, "..", "l.sock")}`);
  await expect(refused).rejects.toThrow("there is no wire 'lines'; available: http");
});

test("words of a plugin on a terminal: in /help, shown, sent as an input, and the hook of the plugin holds", async () => {
  const home = createCliHome();
  configure(home, "release-freeze");
  const model = home.put("model.yaml", MODEL);
  const { socket, tokenFile, flags } = daemonPlace(home);
  await startDaemonRun(home, ...flags, "--model", `scripted:${model}`);
  const attach = ["attach", "--new", "--connect", `unix:${socket}`, "--token-file", tokenFile];
  for (const args of [
    [...attach, "--plain"],
    ["run", "--plain", "--model", `scripted:${model}`],
  ]) {
    const terminal = openCliTerminal(home, args);
    await terminal.see("/help for help");
    terminal.type("/help\r");
    await terminal.see("/release:freeze [WHY]");
    terminal.type("/release:freeze Friday\r");
    await terminal.see("Frozen: Friday");
    await terminal.see("the release is frozen: a person ends that with /release:thaw");
    await terminal.see("The write has ended.");
    terminal.type("\u0004");
    expect(await terminal.exit).toBe(0);
  }
});
