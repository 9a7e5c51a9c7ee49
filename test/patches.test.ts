/**
 * What a feature costs. Each patch adds one of its kind to the sources as they are: it applies, touches at most four files that are
 * there already, and what it adds is known wherever it has to be.
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";

const MAX_TOUCHED = 4;
const root = resolve(import.meta.dirname, "..");

interface Patch {
  /** The sources with the patch in them. */
  readonly folder: string;
  /** Files that it changes, relative to the root; new ones do not count. */
  readonly touched: readonly string[];
}

function applied(name: string): Patch {
  const path = join(import.meta.dirname, "patches", `${name}.patch`);
  const parts = readFileSync(path, "utf8")
    .split(/^diff --git /m)
    .slice(1);
  const touched = parts
    .filter((part) => !/^new file mode/m.test(part))
    .map((part) => /^a\/(\S+) /.exec(part)?.[1] ?? "");
  const folder = mkdtempSync(join(tmpdir(), "harness-patch-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const needed of ["src", "package.json", ...touched]) {
    mkdirSync(dirname(join(folder, needed)), { recursive: true });
    cpSync(join(root, needed), join(folder, needed), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  execFileSync("git", ["apply", path], { cwd: folder });
  return { folder, touched };
}

/** What a program that is run in the folder prints as JSON. */
function run(folder: string, program: string): unknown {
  const printed = execFileSync(process.execPath, ["--input-type=module", "-e", program], {
    cwd: folder,
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
  expect(touched.length).toBeLessThanOrEqual(MAX_TOUCHED);
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
