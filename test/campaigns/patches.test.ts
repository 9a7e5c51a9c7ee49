/**
 * What a feature costs. Each patch adds one of its kind to the sources as they are: it applies, touches at most four files that are
 * there already, generated pages and tests included, and what it adds is known wherever it has to be. With all of them in place the
 * sources compile, and `npm run docs` changes nothing. `test/patches.test.ts` has the quick part.
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";

const MAX_TOUCHED = 4;
const root = resolve(import.meta.dirname, "../..");

interface Patch {
  /** The sources with the patch in them. */
  readonly folder: string;
  /** Files that it changes, relative to the root; new ones do not count. */
  readonly touched: readonly string[];
}

function applied(name: string): Patch {
  const path = patchFile(name);
  const parts = readFileSync(path, "utf8")
    .split(/^diff --git /m)
    .slice(1);
  const touched = parts
    .filter((part) => !/^new file mode/m.test(part))
    .map((part) => /^a\/(\S+) /.exec(part)?.[1] ?? "");
  expect(touched.length).toBeLessThanOrEqual(MAX_TOUCHED);
  execFileSync("git", ["apply", path], { cwd: sources });
  onTestFinished(() => void execFileSync("git", ["apply", "--reverse", path], { cwd: sources }));
  return { folder: sources, touched };
}

function patchFile(name: string): string {
  return join(root, "test/patches", `${name}.patch`);
}

/** A copy of the sources and its packages, at the same place for all tests: Node compiles a module once. */
const sources = mkdtempSync(join(tmpdir(), "harness-patch-"));
const compiled = join(sources, "compiled");

beforeAll(() => {
  for (const part of ["src", "test", "scripts", "docs", "scenarios", "package.json", "tsconfig.json"]) {
    cpSync(join(root, part), join(sources, part), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), join(sources, "node_modules"));
});

afterAll(() => rmSync(sources, { recursive: true, force: true }));

/** What a program that is run in the folder prints as JSON. */
function run(folder: string, program: string): unknown {
  const printed = execFileSync(process.execPath, ["--input-type=module", "-e", program], {
    cwd: folder,
    env: { ...process.env, NODE_COMPILE_CACHE: compiled },
    encoding: "utf8",
  });
  return JSON.parse(printed);
}

test("a built-in tool is its file, a line in the list, its tests and the page that is made", {
  timeout: 120_000,
}, () => {
  const { folder, touched } = applied("built-in-tool");
  expect(touched.toSorted()).toEqual([
    "docs/reference/tools.md",
    "src/tools/builtin-tools.test.ts",
    "src/tools/builtin-tools.ts",
  ]);
  const program = `
    import { isReservedToolName, builtinToolNames, factsOf } from "#tools";
    import { evaluateRules, parseRule } from "./src/governance/rules.ts";
    import { quietDecision } from "./src/governance/quiet-preset.ts";
    import { judgeFileRules } from "./src/governance/file-rules.ts";
    import { steeringChange } from "./src/governance/steering-changes.ts";
    const args = { file: "secret/a" };
    const call = { tool: "fs.touch", label: "Touch", class: "mutating", args, subject: "secret/a" };
    const effect = (rule, verdict) => evaluateRules([parseRule(rule, verdict, "test")], call).effect;
    const disk = { root: "/w", locate: async (path) => path, finding: async () => undefined, found: () => undefined };
    const rules = [parseRule("Touch(secret/*)", "deny", "test")];
    console.log(JSON.stringify({
      isListed: builtinToolNames.includes("fs.touch"),
      isReserved: isReservedToolName("fs.touch"),
      undo: factsOf("fs.touch").paths.map(({ name }) => name),
      denied: effect("Touch(secret/**)", "deny"),
      elsewhere: effect("Touch(docs/**)", "deny"),
      allowed: effect("Touch(secret/a)", "allow"),
      isQuiet: quietDecision({ tool: "fs.touch", args }, "/w").quiet,
      command: (await judgeFileRules("touch secret/a", { rules, disk }))?.effect,
      steering: (await steeringChange("fs.touch", { file: ".bashrc" }, disk))?.paths,
    }));`;
  expect(run(folder, program)).toEqual({
    isListed: true,
    isReserved: true,
    undo: ["file"],
    denied: "deny",
    elsewhere: "none",
    allowed: "allow",
    isQuiet: false,
    command: "deny",
    steering: [".bashrc"],
  });
});

test("a request middleware is its file, its name in the folder and a line in the chain", () => {
  const { folder, touched } = applied("request-middleware");
  expect(touched.toSorted()).toEqual(["src/context/index.ts", "src/session/chains.ts"]);
  const program = `
    import { createHarness } from "./src/embed.ts";
    let system = [];
    const spy = {
      name: "spy",
      models: async () => [],
      countTokens: () => 0,
      async chat({ request, emit }) {
        system = request.system;
        emit({ type: "text", block: 0, text: "Hello." });
        const usage = { input_tokens: 1, output_tokens: 1 };
        return { type: "done", model: "spy:one", stop: "end", usage };
      },
    };
    const plugins = [{ name: "spy", register: (host) => host.addProvider(spy) }];
    const harness = await createHarness({ model: "spy:one", env: {}, plugins });
    await harness.prompt("Hi.");
    await harness.close();
    console.log(JSON.stringify(system.filter((text) => /^Today is [0-9-]+\\.$/.test(text)).length));`;
  expect(run(folder, program)).toBe(1);
});

test("a kind of store is its folder, a row in the table and a row in the suite", () => {
  const { folder, touched } = applied("store-backend");
  expect(touched.toSorted()).toEqual(["src/stores/kinds.ts", "src/stores/stores.test.ts"]);
  const program = `
    import { createSystemClock } from "#world";
    import { storeChoice, storeKindNames, storeKinds } from "./src/stores/kinds.ts";
    const site = { workspace: process.cwd(), env: {}, key: () => undefined };
    const choice = storeChoice("json", site);
    const id = "sess_00000000000000000000000001";
    const clock = createSystemClock();
    const store = await storeKinds.json.open(choice, { clock });
    const createdAt = new Date(clock.now()).toISOString();
    await store.create({ id, workingDir: "/w", profile: "default", model: "a:b", createdAt });
    const log = await store.acquire(id);
    await log.append([{ kind: "TextDelta", ts: createdAt, payload: { turn: "turn_1", step: 1, block: 0, text: "x" } }], createdAt);
    await log.release();
    const again = await storeKinds.json.open(choice, { clock });
    console.log(JSON.stringify({ isListed: storeKindNames.includes("json"), events: (await again.read(id, { after: 0, limit: 9 })).length }));`;
  expect(run(folder, program)).toEqual({ isListed: true, events: 1 });
});

/** For a program in a patched folder: `start` runs the patched command in a home of its own. */
const START = `
  import { spawn } from "node:child_process";
  import { once } from "node:events";
  import { mkdirSync, readFileSync, rmSync } from "node:fs";
  import { connect } from "node:net";
  import { createInterface } from "node:readline";
  const home = process.cwd() + "/home";
  rmSync(home, { recursive: true, force: true });
  mkdirSync(home + "/work", { recursive: true });
  const main = 'import { main } from "' + process.cwd() + '/src/main.ts"; await main();';
  function start(...args) {
    const env = { PATH: process.env.PATH, HOME: home, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE };
    const command = ["--input-type=module", "-e", main, "harness", ...args, "-m", "scripted:offline"];
    const child = spawn(process.execPath, command, { cwd: home + "/work", env });
    process.once("exit", () => child.kill());
    return child;
  }`;

test("a protocol command is its row, its handler, its example and the page that is made", { timeout: 60_000 }, () => {
  const { folder, touched } = applied("protocol-command");
  // One with a REST route of its own also changes the generated page about HTTP; without, the route for any command carries it.
  expect(touched.toSorted()).toEqual([
    "docs/reference/protocol.md",
    "src/control/command-handlers.ts",
    "src/protocol/commands.test.ts",
    "src/protocol/session-commands.ts",
  ]);
  const program = `${START}
    import { protocolJsonSchema } from "#protocol/schemas";
    import { openApiDocument, routes } from "#transports/http";
    const rpc = start("rpc");
    let id = 0;
    const ask = (method, params) => rpc.stdin.write(JSON.stringify({ jsonrpc: "2.0", id: ++id, method, params }) + "\\n");
    const answers = [];
    ask("initialize", {});
    for await (const line of createInterface(rpc.stdout)) {
      const answer = JSON.parse(line);
      if (answer.id === undefined) continue;
      answers.push(answer.result ?? answer.error);
      if (answer.id === 1) ask("session.open", {});
      else if (answer.id === 2) ask("position.get", { session: answer.result?.session.id });
      else rpc.stdin.end();
    }
    const { paths } = openApiDocument(routes, "1");
    console.log(JSON.stringify({
      feature: answers[0].handshake.features.includes("position"),
      answer: answers[2],
      schemas: Object.keys(protocolJsonSchema().$defs).filter((name) => name.endsWith(".GetPosition")),
      rest: paths["/v1/sessions/{id}/commands"].post["x-commands"].includes("GetPosition"),
    }));`;
  expect(run(folder, program)).toEqual({
    feature: true,
    answer: { ok: true, result: 1 },
    schemas: ["command.GetPosition", "reply.GetPosition"],
    rest: true,
  });
});

test("a transport is its folder, its name, a row in the table, its effect and a line about its addresses", {
  timeout: 60_000,
}, () => {
  const { folder, touched } = applied("transport");
  expect(touched.toSorted()).toEqual([
    "docs/reference/cli.md",
    "package.json",
    "src/daemon/transports.ts",
    "test/effect-places.test.ts",
  ]);
  const program = `${START}
    const daemon = start("daemon", "run", "--listen", "lines+unix:" + home + "/s", "--token-file", home + "/token");
    for await (const line of createInterface(daemon.stderr)) if (line.includes("the token is in")) break;
    const socket = connect(home + "/s");
    const say = (message) => socket.write(JSON.stringify(message) + "\\n");
    say({ token: readFileSync(home + "/token", "utf8").trim() });
    say({ kind: "CreateSession" });
    const heard = new Set();
    for await (const text of createInterface(socket)) {
      const { reply, event, error } = JSON.parse(text);
      heard.add(reply?.kind ?? event?.kind ?? error.reason);
      if (reply?.kind === "CreateSession") say({ kind: "SendInput", session: reply.session, content: [{ text: "Hi." }] });
      if (event?.kind === "TurnEnded") say({ kind: "Nonsense" });
      if (error !== undefined) break;
    }
    const stranger = connect(home + "/s");
    stranger.write('{"token":"forged"}\\n');
    for await (const text of createInterface(stranger)) heard.add(JSON.parse(text).error.reason);
    daemon.kill("SIGTERM");
    const [code] = await once(daemon, "exit");
    console.log(JSON.stringify({ heard: [...heard], code }));`;
  expect(run(folder, program)).toEqual({
    heard: expect.arrayContaining(["CreateSession", "SendInput", "TurnEnded", "InvalidCommand", "TokenInvalid"]),
    code: 0,
  });
});

test("with all of them the sources compile, and the pages are those that the tables make", { timeout: 120_000 }, () => {
  const folder = sources;
  const patches = readdirSync(join(root, "test/patches")).map((name) => patchFile(name.replace(".patch", "")));
  execFileSync("git", ["apply", ...patches], { cwd: folder });
  const tests = ["protocol/commands", "stores/stores", "tools/builtin-tools"].map((name) => `src/${name}.test.ts`);
  const files = ["src/main.ts", "src/embed.ts", "scripts/reference.ts", ...tests];
  writeFileSync(
    join(folder, "tsconfig.patched.json"),
    JSON.stringify({ extends: "./tsconfig.json", include: [], files }),
  );
  // Other tests use the other cores; several checkers do part of the work several times.
  const args = ["-p", "tsconfig.patched.json", "--singleThreaded"];
  execFileSync(join(root, "node_modules/.bin/tsc"), args, { cwd: folder, stdio: "inherit" });
  const program = `
    import { readFileSync } from "node:fs";
    import { referencePages } from "./scripts/reference.ts";
    const stale = referencePages().filter(({ path, text }) => readFileSync(path, "utf8") !== text);
    console.log(JSON.stringify(stale.map(({ path }) => path)));`;
  expect(run(folder, program)).toEqual([]);
});
