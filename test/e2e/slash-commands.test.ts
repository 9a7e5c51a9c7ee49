/** The slash commands of a session over REST and in the line interface: the same rows do the same. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type CliHome, openCliTerminal } from "../fakes/cli-process.ts";
import { createDaemonHome, textBody } from "../fakes/daemon-home.ts";

const MODEL = `
name: words
rules:
  - when: { input: "Look at the tests." }
    reply: [{ text: "The prompt has arrived." }]
  - when: { input: "Look at src." }
    reply: [{ text: "The alias has arrived." }]
`;

function userFile(home: CliHome, name: string, text: string): void {
  const file = join(home.env.XDG_CONFIG_HOME ?? "", "harness", name);
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, text, { mode: 0o600 });
}

test("a command in Markdown and an alias of it run alike over REST and in a terminal", async () => {
  const home = createDaemonHome();
  userFile(home, "commands/review.md", "---\ndescription: review a change\n---\nLook at $ARGUMENTS.\n");
  userFile(home, "aliases.toml", '[aliases]\nr = "/user:review src"\n');
  home.put("model.yaml", MODEL);
  userFile(home, "profiles/plain.toml", 'prompt_header = "Speak plainly."\n');
  await home.start("-m", "scripted:./model.yaml", "--profile", "plain");
  await home.ask("GET", "/v1/handshake");
  const { json: session } = await home.ask("POST", "/v1/sessions", { working_dir: home.workspace });
  const { json: rows } = await home.ask("GET", `/v1/slash-commands?session=${session.id}`);
  const words = rows.slash_commands.map((row: { namespace: string; name: string }) => `${row.namespace}:${row.name}`);
  expect(words).toEqual(expect.arrayContaining([":help", "sessions:list", "user:review", ":r"]));
  const run = (namespace: string, name: string, args = {}) =>
    home.ask("POST", `/v1/sessions/${session.id}/commands`, { kind: "RunSlashCommand", namespace, name, args });
  expect(await run("user", "review", { arguments: "src" })).toMatchObject({
    status: 202,
    json: { result: { input: "Look at src." } },
  });
  expect((await run("", "r", { arguments: "and test" })).json).toMatchObject({
    result: { input: "Look at src and test." },
  });
  expect((await run("", "model", { model: "a:b" })).json).toMatchObject({
    result: { command: { kind: "SetModel", model: "a:b" } },
  });
  expect((await run("sessions", "list")).json.result.text).toContain(session.id);
  const health: string = (await run("", "health")).json.result.text;
  expect(health).toContain("store: ok");
  expect(health).toContain("engine: ok: 1 session open, 0 running");
  expect(health).toContain(`control_plane: listening: unix:${home.socket}`);
  expect(health).toContain("log: ok");
  for (const part of ["credential_store", "mcp_servers", "credential_helper"]) expect(health).toContain(`${part}: `);
  expect((await run("", "profile")).json.result.text).toMatch(
    /^Profile: plain \(.+plain\.toml\)\n[\s\S]* prompt_header +1 line +\(.+plain\.toml\)/,
  );
  expect((await home.ask("GET", "/v1/profiles")).json.profiles).toEqual([
    { name: "default", scope: "built-in", active: false },
    { name: "framework", scope: "built-in", active: false },
    { name: "plain", scope: "user", active: true },
  ]);
  expect(session.profile).toBe("plain");
  const other = await home.ask("POST", "/v1/sessions", { working_dir: home.workspace, profile: "framework" });
  expect(other.json).toMatchObject({ profile: "framework", activity: "idle" });
  const { profiles } = (await home.ask("GET", `/v1/profiles?session=${other.json.id}`)).json;
  expect(profiles).toContainEqual({ name: "framework", scope: "built-in", active: true });
  expect((await run("", "cost")).json.result.text).toBe("This session has not called a model yet.");
  expect((await run("sessions", "pin", { session: session.id })).json.result.text).toContain("stays open");
  expect((await home.ask("GET", `/v1/sessions/${session.id}`)).json.pinned).toBe(true);
  await home.ask("POST", `/v1/sessions/${session.id}/input?wait=turn`, textBody("Look at src."));
  const [head = "", ...lines] = (await run("sessions", "list")).json.result.text.split("\n");
  const row = lines.find((line: string) => line.includes(session.id));
  expect(row.slice(head.indexOf("turns")).trimStart()).toMatch(/^1 /);
  expect((await run("", "cost")).json.result.text).toMatch(/scripted:\S+ +1 /);
  const branch = await run("sessions", "branch", { session: session.id, at: "at 1" });
  expect(branch.json.result).toMatchObject({ session: expect.stringMatching(/^sess_/) });
  expect((await run("sessions", "branch", { session: session.id, at: "at 7" })).json.error.message).toContain("only 1");
  expect((await run("sessions", "resume", { session: "nope" })).json.error.message).toContain(
    "there is no session nope",
  );
  expect((await run("", "quit")).json.error.message).toContain("by the client itself");
  expect((await run("user", "none")).json.error.message).toContain("there is no /user:none");
  const terminal = openCliTerminal(home, ["attach", "--plain", "--new"]);
  await terminal.see("/help for help");
  await terminal.see("› ");
  terminal.type("/us\t");
  await terminal.see("/user:");
  terminal.type("rev\t");
  await terminal.see("review");
  terminal.type(" the tests\r");
  await terminal.see("The prompt has arrived.");
  terminal.type("/r\r");
  await terminal.see("The alias has arrived.");
  terminal.type("/health\r");
  await terminal.see("store: ok");
  terminal.type("!seq 41 49; exit 7\r");
  await terminal.see("49");
  await terminal.see("[exit code 7]");
  // The code is there a moment before the turn of the command is over.
  await expect
    .poll(async () => (await home.ask("GET", "/v1/sessions")).json.sessions)
    .not.toContainEqual(expect.objectContaining({ activity: "running" }));
  // The conversation moves to the new session, and stays in the one whose profile changes.
  terminal.type("/profiles:framework\r");
  await terminal.see("Started new session");
  await terminal.see("/help for help");
  terminal.type("/profiles:default --in-place\r");
  await terminal.see("has the profile 'default' from now on");
  await terminal.see("/help for help");
  terminal.type("/profile\r");
  await terminal.see("Profile: default (built-in)");
  terminal.type("\u0004");
  expect(await terminal.exit).toBe(0);
});

test("an alias that hides a built-in command stops the start, with the way out", async () => {
  const home = createDaemonHome();
  userFile(home, "aliases.toml", '[aliases]\nhelp = "/user:review"\n');
  const terminal = openCliTerminal(home, ["run", "--plain", "--model", "scripted:offline", "hello"]);
  await terminal.see("would hide the built-in /help: rename it");
  expect(await terminal.exit).toBe(2);
});

test("/mcp:approve asks in the terminal of the conversation", async () => {
  const home = createDaemonHome();
  home.put("model.yaml", MODEL);
  const script = home.put("server.js", "");
  const entry = `command = "${process.execPath}"\nargs = ["${script}"]\nsha256 = "${"0".repeat(64)}"\n`;
  userFile(home, "config.toml", `[mcp_servers.pinned]\n${entry}`);
  const terminal = openCliTerminal(home, ["run", "--plain", "--model", "scripted:./model.yaml"]);
  await terminal.see("› ");
  terminal.type("/mcp:approve pinned\r");
  await terminal.see("The MCP server 'pinned' of your config.toml starts");
  await terminal.see("[a]pprove  [q]uit");
  terminal.type("q");
  await terminal.see("› ");
  terminal.type("/mcp\r");
  await terminal.see("pinned: stopped");
  await terminal.see("› ");
  terminal.type("\u0004");
  expect(await terminal.exit).toBe(0);
});
