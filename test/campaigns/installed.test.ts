/**
 * The package as users get it: packed, installed by npm into an empty project, run, imported, and compiled against.
 * `test/e2e/package-exports.test.ts` has the quick part.
 */
import { execFile } from "node:child_process";
import { globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startModuleRegistry } from "../fakes/module-registry.ts";
import { findOldNode } from "../fakes/old-node.ts";

const root = resolve(import.meta.dirname, "../..");
const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "harness-installed-"));
const project = join(folder, "project");
const command = join(project, "node_modules/.bin/harness");
const env = { PATH: process.env.PATH ?? "", HOME: join(folder, "home") };
const TIMEOUT_MS = 120_000;

beforeAll(async () => {
  for (const name of [env.HOME, project]) mkdirSync(name);
  put("package.json", '{ "type": "module" }\n');
  const registry = await startModuleRegistry();
  const npm = (args: readonly string[], cwd: string) =>
    run("npm", [...args, "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"], {
      cwd,
      env: { ...env, npm_config_registry: registry.url, npm_config_cache: join(env.HOME, "cache") },
    });
  try {
    // The build is that of `test/install.ts`.
    const { stdout } = await npm(["pack", "--pack-destination", project], root);
    await npm(["install", `./${stdout.trim()}`, "@types/node"], project);
  } finally {
    await registry.close();
  }
}, TIMEOUT_MS);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function put(name: string, text: string): string {
  const file = join(project, name);
  writeFileSync(file, text);
  return file;
}

test("brings what the bundle does not hold, one command, and no Node", () => {
  expect(readdirSync(join(project, "node_modules/.bin"))).toEqual(["harness"]);
  expect(readdirSync(join(project, "node_modules")).filter((name) => !name.startsWith("."))).toEqual([
    "@types",
    "@vscode",
    "better-sqlite3-multiple-ciphers",
    "harness-runtime",
    "node-addon-api",
    "undici-types",
    "zod",
  ]);
});

test("runs a turn with the log on disk, and an embedded one", async () => {
  const { stdout } = await run(process.execPath, [command, "run", "-m", "scripted:offline", "hello"], {
    cwd: project,
    env,
  });
  expect(stdout).toContain("offline");
  put("model.yaml", "name: m\nrules: []\notherwise: [{ text: At your service. }]\n");
  const file = put(
    "embedding.mjs",
    `import { createHarness } from "harness-runtime";
    import { connect } from "harness-runtime/client";
    import { compile } from "harness-runtime/starlark";
    import schema from "harness-runtime/protocol.schema.json" with { type: "json" };
    const harness = await createHarness({ model: "scripted:./model.yaml", logFile: "log.db" });
    console.log((await harness.prompt("hello")).text, typeof connect, typeof compile, schema.$id);
    await harness.close();`,
  );
  expect((await run(process.execPath, [file], { cwd: project, env })).stdout).toBe(
    "At your service. function function harness-protocol\n",
  );
});

test("fails with a stack that names functions and lines", async () => {
  const file = put(
    "failing.mjs",
    `import { createHarness } from "harness-runtime";
    await createHarness({ apiKey: "x" }).catch(({ stack }) => console.log(stack));`,
  );
  const { stdout } = await run(process.execPath, [file], { cwd: project, env });
  expect(stdout).toMatch(/at (?:async )?createHarness \(file:.*\/dist\/embed\.js:\d{2,}:\d{1,3}\)/);
});

const oldNode = findOldNode();

describe.runIf(oldNode !== undefined)("on an older Node", () => {
  const line =
    /^harness(?:-runtime)? needs Node 24 or newer; this is Node \d+\.\d+\.\d+ \(.+\)\. Install a newer one: .+$/;

  test("the command says in one line what it needs", async () => {
    const refused = await run(oldNode ?? "", [command, "version"], { env }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 2, stdout: "" });
    expect((refused as { stderr: string }).stderr.split("\n")).toEqual([expect.stringMatching(line), ""]);
  });

  test.each(["harness-runtime", "harness-runtime/client", "harness-runtime/starlark"])("so does %s", async (name) => {
    const file = put("old.mjs", `await import("${name}").catch(({ message }) => console.log(message));`);
    const { stdout } = await run(oldNode ?? "", [file], { cwd: project, env });
    expect(stdout.split("\n")).toEqual([expect.stringMatching(line), ""]);
  });
});

// With the types of a page, as a project has them that says nothing; and without them, as one for Node.
test.each([
  { moduleResolution: "nodenext", module: "nodenext", lib: undefined },
  { moduleResolution: "bundler", module: "esnext", lib: ["esnext"] },
])(
  "a strict TypeScript project, resolving as $moduleResolution, compiles the examples of the documents, and is told what is wrong",
  {
    timeout: TIMEOUT_MS,
  },
  async ({ moduleResolution, module, lib }) => {
    const examples = documentedModules();
    expect(new Set(Object.keys(examples).map((name) => name.split("-")[0]))).toEqual(
      new Set(["README", "client", "embedding", "starlark"]),
    );
    mkdirSync(join(project, moduleResolution));
    for (const [name, text] of Object.entries({ ...examples, "wrong.ts": WRONG }))
      put(join(moduleResolution, name), text);
    const strict = { strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false, types: [] };
    const compilerOptions = { ...strict, noEmit: true, target: "esnext", module, moduleResolution, lib, checkJs: true };
    put(join(moduleResolution, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*"] }));
    const tsc = join(root, "node_modules/.bin/tsc");
    const { stdout } = await run(tsc, ["-p", moduleResolution, "--singleThreaded"], { cwd: project }).catch(
      (error: { stdout: string }) => error,
    );
    expect(stdout.split("\n")).toEqual([expect.stringMatching(/wrong\.ts.*'text' does not exist/), ""]);
  },
);

const WRONG = `
import { connect } from "harness-runtime/client";
const client = await connect({ socket: "/run/c.sock", tokenFile: "token" });
for await (const event of (await client.open()).events()) {
  if (event.kind === "TextDelta") console.log(event.payload.text.length);
  if (event.kind === "TurnEnded") console.log(event.payload.text.length);
}
`;

/** Every fence of TypeScript, and every JavaScript module that a page has its reader write; by page and line. */
function documentedModules(): Record<string, string> {
  const pages = ["README.md", ...globSync("docs/**/*.md", { cwd: root })];
  return Object.fromEntries(
    pages.flatMap((page) => {
      const text = readFileSync(join(root, page), "utf8");
      return [...text.matchAll(/^```(ts|js title=\S+\.mjs)\n([\s\S]*?)^```$/gm)].map(([, kind, body = ""], index) => [
        `${basename(page, ".md")}-${index}.${kind === "ts" ? "ts" : "mjs"}`,
        body,
      ]);
    }),
  );
}
