/** The rings hold: which folder may import which, no cycles, no undeclared packages, no ambient effects. Which file may have which effect is in effect-places.test.ts. */
import { readdirSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { parseSync } from "rolldown/utils";
import { describe, expect, test } from "vitest";

const root = resolve(import.meta.dirname, "..");

/** Folder → folders it may import. A folder that is not listed may not exist. `.` is a file directly in `src/`. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  base: [],
  world: ["base"],
  protocol: ["base"],
  wire: ["base"],
  starlark: ["base"],
  engine: ["base", "protocol"],
  tools: ["base", "protocol", "engine"],
  artifacts: ["base", "world", "protocol", "engine", "tools"],
  context: ["base", "protocol", "engine", "artifacts"],
  providers: ["base", "world", "wire", "protocol", "engine", "artifacts"],
  governance: ["base", "protocol", "engine", "tools", "artifacts"],
  script: ["base", "protocol", "engine", "artifacts", "starlark"],
  stores: ["base", "world", "wire", "protocol", "engine", "artifacts"],
  undo: ["base", "world", "protocol", "engine", "tools"],
  trust: ["base", "world", "protocol", "artifacts"],
  sandbox: ["base", "world", "wire"],
  auth: ["base", "world", "protocol"],
  logs: ["base", "world"],
  schedules: ["base", "world", "protocol"],
  credentials: ["base", "world", "wire", "protocol", "engine"],
  redaction: ["base", "protocol", "engine"],
  mcp: ["base", "world", "wire", "protocol", "engine", "artifacts"],
  memory: ["base", "world", "artifacts"],
  cassette: ["base", "world", "protocol", "engine"],
  delegation: ["base", "protocol", "engine", "tools", "artifacts"],
  control: ["base", "protocol", "engine"],
  transports: ["base", "world", "wire", "protocol", "engine", "auth", "control"],
  evals: [
    "base",
    "world",
    "protocol",
    "engine",
    "tools",
    "artifacts",
    "providers",
    "script",
    "trust",
    "control",
    "program",
  ],
  conformance: ["base", "world", "wire", "protocol"],
  client: ["base", "world", "wire", "protocol"],
  tui: ["base", "protocol", "client"],
  session: [...parts(), "control"],
  program: [...parts(), "auth", "logs", "schedules", "control", "session"],
  daemon: [
    "base",
    "world",
    "protocol",
    "engine",
    "artifacts",
    "providers",
    "stores",
    "auth",
    "logs",
    "schedules",
    "control",
    "transports",
    "client",
    "program",
  ],
  cli: [
    "base",
    "world",
    "wire",
    "protocol",
    "artifacts",
    "stores",
    "starlark",
    "client",
    "evals",
    "conformance",
    "memory",
    "program",
    "daemon",
    "tui",
  ],
  ".": [
    ...parts(),
    "starlark",
    "control",
    "auth",
    "transports",
    "logs",
    "evals",
    "conformance",
    "program",
    "daemon",
    "cli",
  ],
};

/** What a session is put together from. */
function parts(): string[] {
  const vocabulary = ["base", "world", "protocol", "engine", "artifacts"];
  const pluggedIn = ["context", "providers", "tools", "governance", "script", "redaction", "stores", "undo", "trust"];
  return [...vocabulary, ...pluggedIn, "sandbox", "cassette", "credentials", "delegation", "mcp", "memory"];
}

/** Folders whose code gets its effects handed in; `node:` modules that have effects are out of their reach. */
const withoutEffects = [
  "protocol",
  "wire",
  "starlark",
  "engine",
  "context",
  "tools",
  "governance",
  "redaction",
  "script",
  "delegation",
  "control",
];
const effectModules =
  /^node:(fs|fs\/promises|child_process|http|https|http2|net|tls|dgram|worker_threads|cluster|process)$/;

interface SourceFile {
  /** Relative to the repository root. */
  readonly path: string;
  readonly folder: string;
  readonly imports: readonly string[];
  /** Those that are still there when types are stripped: two types may describe each other, two modules may not. */
  readonly loads: readonly string[];
  readonly text: string;
}

const sources = listFiles(join(root, "src")).map(readSource);
const productSources = sources.filter(({ path }) => !isTest(path));

describe("folders", () => {
  test("import only what their ring allows, and only through the folder's public name", () => {
    expect(productSources.flatMap(wrongImports)).toEqual([]);
  });

  test("form no import cycle, file by file", () => {
    expect(findCycle(productSources)).toBeUndefined();
  });

  // A terminal that attaches to a daemon would wait for servers and for all schemas of the protocol.
  test("of the daemon can be joined without what serves it", () => {
    const loaded = new Set(["src/daemon/index.ts"]);
    const names: string[] = [];
    for (const path of loaded) {
      const { loads = [] } = sources.find((file) => file.path === path) ?? {};
      names.push(...loads);
      for (const name of loads.filter((one) => one.startsWith("."))) loaded.add(join(dirname(path), name));
    }
    expect(names).toContain("./claim.ts");
    expect(names.filter((name) => name.startsWith("#transports") || name === "#protocol/schemas")).toEqual([]);
  });

  test("have no ambient effects where effects are handed in", () => {
    const reached = productSources
      .filter(({ folder }) => withoutEffects.includes(folder))
      .flatMap(({ path, imports, text }) => [
        ...imports.filter((name) => effectModules.test(name)).map((name) => `${path} imports ${name}`),
        ...(/getBuiltinModule|createRequire|\bfetch\(|process\.(env|exit|kill|binding)/.test(text)
          ? [`${path} reaches for the process`]
          : []),
      ]);
    expect(reached).toEqual([]);
  });
});

describe("packages", () => {
  // Our own package.json, which has both fields.
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Record<
    "dependencies" | "devDependencies",
    Record<string, string>
  >;
  const declared = { ...manifest.dependencies, ...manifest.devDependencies };

  // That those outside the bundle are installed with it is seen in campaigns/installed.test.ts.
  test("that the product imports are declared", () => {
    const undeclared = productSources.flatMap(({ path, imports }) =>
      imports
        .filter((name) => isPackage(name) && !(packageName(name) in declared))
        .map((name) => `${path} imports ${name}`),
    );
    expect(undeclared).toEqual([]);
  });

  // Importing it takes 0.1 s and more: a session without a server never does.
  test("of MCP are loaded by one folder, and only when they are needed", () => {
    const loaded = productSources.flatMap(({ path, text }) =>
      [...text.matchAll(/^import (?!type ).*"@modelcontextprotocol\/.*$/gm)].map(([line]) => `${path}: ${line}`),
    );
    const users = productSources.filter(({ imports }) =>
      imports.some((name) => name.startsWith("@modelcontextprotocol/")),
    );
    // Whoever runs OAuth sees the tokens, so that is the credential helper.
    const oauth = ["src/credentials/helper-login.ts", "src/credentials/oauth-sdk.ts"];
    expect([loaded, users.filter(({ folder }) => folder !== "mcp").map(({ path }) => path)]).toEqual([[], oauth]);
  });

  test("are pinned exactly", () => {
    expect(Object.entries(declared).filter(([, version]) => !/^\d+\.\d+\.\d+(?:-alpha\.\d+)?$/.test(version))).toEqual(
      [],
    );
  });
});

describe("the checks themselves", () => {
  const file = (path: string, ...imports: string[]): SourceFile => ({
    path,
    folder: folderOf(path),
    imports,
    loads: imports,
    text: "",
  });

  test("find a wrong direction, a relative reach and a deep import", () => {
    expect(wrongImports(file("src/engine/x.ts", "#tools"))).toHaveLength(1);
    expect(wrongImports(file("src/tools/x.ts", "../governance/rules.ts"))).toHaveLength(1);
    expect(wrongImports(file("src/nowhere/x.ts", "#base"))).toHaveLength(1);
    expect(wrongImports(file("src/tools/x.ts", "#engine", "./y.ts", "node:path", "yaml"))).toEqual([]);
  });

  test("find a cycle", () => {
    const cyclic = [file("src/base/a.ts", "./b.ts"), file("src/base/b.ts", "./a.ts")];
    expect(findCycle(cyclic)).toEqual(["src/base/a.ts", "src/base/b.ts", "src/base/a.ts"]);
  });
});

function wrongImports({ path, folder, imports }: SourceFile): string[] {
  const may = allowed[folder];
  if (may === undefined) return [`${path}: the folder ${folder} has no row in the table`];
  return imports.flatMap((name) => {
    const target = targetFolder(path, name);
    if (target === undefined || target === folder) return [];
    if (name.startsWith(".")) return folder === "." ? [] : [`${path} reaches into ${target} with ${name}`];
    return may.includes(target) ? [] : [`${path} (${folder}) imports ${name}`];
  });
}

/** The folder a specifier leads to; undefined for packages and Node's own modules. */
function targetFolder(from: string, name: string): string | undefined {
  if (name.startsWith("#")) return name.slice(1).split("/")[0];
  if (!name.startsWith(".")) return undefined;
  return folderOf(join(dirname(from), name));
}

function folderOf(path: string): string {
  const parts = path.split("/");
  return parts.length > 2 ? (parts[1] ?? ".") : ".";
}

function findCycle(files: readonly SourceFile[]): string[] | undefined {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const state = new Map<string, "open" | "done">();
  const stack: string[] = [];
  function visit(path: string): string[] | undefined {
    const file = byPath.get(path);
    if (file === undefined || state.get(path) === "done") return undefined;
    stack.push(path);
    if (state.get(path) === "open") return stack.slice(stack.indexOf(path));
    state.set(path, "open");
    for (const name of file.loads) {
      const next = name.startsWith("#")
        ? publicFile(name)
        : name.startsWith(".")
          ? join(dirname(path), name)
          : undefined;
      const found = next === undefined ? undefined : visit(next);
      if (found !== undefined) return found;
    }
    state.set(path, "done");
    stack.pop();
    return undefined;
  }
  for (const { path } of files) {
    const found = visit(path);
    if (found !== undefined) return found;
  }
  return undefined;
}

function publicFile(name: string): string {
  // Our own package.json, which maps every public name to a file.
  const { imports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    imports: Record<string, string | { readonly node: string }>;
  };
  const entry = imports[name];
  // What a browser gets instead is among the files of the folder.
  const file = typeof entry === "object" ? entry.node : entry;
  if (file === undefined) throw new Error(`package.json has no entry for ${name}`);
  return join(".", file);
}

function isPackage(name: string): boolean {
  return !/^[.#]/.test(name) && !name.startsWith("node:") && !builtinModules.includes(name);
}

function packageName(name: string): string {
  return name
    .split("/")
    .slice(0, name.startsWith("@") ? 2 : 1)
    .join("/");
}

function isTest(path: string): boolean {
  return /\.test\.ts$/.test(path);
}

function readSource(file: string): SourceFile {
  const path = relative(root, file);
  const text = readFileSync(file, "utf8");
  const { module, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
  const dynamic = module.dynamicImports.map(({ moduleRequest: { start, end } }) => {
    return /^["'](.*)["']$/.exec(text.slice(start, end))?.[1];
  });
  const statements = [
    ...module.staticImports.map(({ moduleRequest, entries }) => ({ name: moduleRequest.value, entries })),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.map((e) => ({ name: e.moduleRequest?.value, entries: [e] })),
    ),
  ];
  const isTypes = (entries: readonly { isType: boolean }[]): boolean =>
    entries.length > 0 && entries.every((entry) => entry.isType);
  const named = (names: readonly (string | undefined)[]): string[] => names.filter((name) => name !== undefined);
  const imports = named([...statements.map(({ name }) => name), ...dynamic]);
  const loads = named([...statements.filter(({ entries }) => !isTypes(entries)).map(({ name }) => name), ...dynamic]);
  return { path, folder: folderOf(path), imports, loads, text };
}

function listFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
