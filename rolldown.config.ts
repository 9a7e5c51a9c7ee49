import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import type { InputOptions, OutputOptions, Plugin, RolldownOptions } from "rolldown";

// Our own package.json.
const { version, engines } = JSON.parse(readFileSync("package.json", "utf8")) as {
  version: string;
  engines: { node: string };
};

/** Absent outside a clone, where there is no git. */
function commit(): string {
  try {
    return execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim();
  } catch {
    return "unknown";
  }
}

/**
 * An import of one of Node's own modules reads all that it exports, and so loads what nobody asked for: web crypto, streams of
 * files. Taken as an object, only what is named is read. It saves some milliseconds of every start.
 */
const plainBuiltins: Plugin = {
  name: "plain-builtins",
  renderChunk(code) {
    return code.replace(/^import (.+) from "(node:[^"]+)";$/gm, (_, names: string, module: string) => {
      const from = `process.getBuiltinModule("${module}")`;
      const [, whole, named] = /^(?:(?:\* as )?([\w$]+))?(?:, )?(\{.+\})?$/.exec(names) ?? [];
      if (whole === undefined && named === undefined) throw new Error(`cannot read the import of ${names}`);
      return [
        ...(whole === undefined ? [] : [`const ${whole} = ${from};`]),
        ...(named === undefined ? [] : [`const ${named.replaceAll(" as ", ": ")} = ${from};`]),
      ].join("\n");
    });
  },
};

/**
 * The widget library makes tables of Unicode as it is imported, which takes longer than the rest of it; most texts need none of them.
 * Here they are made when they are first used.
 */
const lateUnicodeTables: Plugin = {
  name: "late-unicode-tables",
  transform(code, id) {
    if (!/pi-tui[\\/]dist[\\/]utils\.js$/.test(id)) return undefined;
    const late = (name: string, method: string, made: string): string =>
      `let made_${name}; const ${name} = { ${method}: (text) => (made_${name} ??= ${made}).${method}(text) };`;
    const changed = code
      .replace(/^const (\w+Segmenter) = (new Intl\.Segmenter\(.*\));$/gm, (_, name: string, made: string) =>
        late(name, "segment", made),
      )
      .replace(/^const (terminalSpacingMarkRegex) = (\/.*\/v);$/m, (_, name: string, made: string) =>
        late(name, "test", made),
      );
    if (changed.split("let made_").length !== 4)
      throw new Error("the tables of the widget library are not where they were");
    return changed;
  },
};

const NODE_CHECK = "node-check.js";

/** The first file that the library loads: on an older Node it says what is needed, before something fails that is not there yet. */
const nodeCheck: Plugin = {
  name: "node-check",
  renderChunk(code, { isEntry, name }) {
    return isEntry && name !== "main" ? `import "./${NODE_CHECK}";\n${code}` : undefined;
  },
  generateBundle() {
    const needed = engines.node.replace(">=", "");
    const source = `const found = globalThis.process?.versions?.node;
if (Number.parseInt(found, 10) < ${needed})
  throw new Error(\`harness-runtime needs Node ${needed} or newer; this is Node \${found} (\${process.execPath}). Install a newer one: https://nodejs.org\`);
`;
    this.emitFile({ type: "asset", fileName: NODE_CHECK, source });
  },
};

const input = {
  platform: "node",
  // Native and data-carrying packages stay outside.
  external: ["better-sqlite3-multiple-ciphers", /^better-sqlite3-multiple-ciphers\//, "@vscode/ripgrep"],
  transform: {
    define: { HARNESS_BUILD: JSON.stringify({ version, commit: commit(), builtAt: new Date().toISOString() }) },
  },
  plugins: [plainBuiltins, lateUnicodeTables],
  // A module that one command loads on demand may be part of what another loads at its start.
  checks: { ineffectiveDynamicImport: false },
} satisfies InputOptions;

const output = {
  dir: "dist",
  format: "esm",
  chunkFileNames: "[name]-[hash].js",
  // Stack traces name functions and lines. Code without white space would start no faster: Node keeps what it has compiled.
  comments: { jsdoc: false },
} satisfies OutputOptions;

/**
 * One program, split only where a part is loaded on demand. What every session needs is in few files, because each costs time to
 * find: `frame` is there for all commands, `project` for those that read one, `session` for those that run one.
 */
const program = {
  ...input,
  plugins: [...input.plugins, nodeCheck],
  input: {
    main: "src/main.ts",
    embed: "src/embed.ts",
    client: "src/client/index.ts",
    starlark: "src/starlark/index.ts",
  },
  output: {
    ...output,
    cleanDir: true,
    codeSplitting: {
      groups: [
        { name: "frame", test: /src[\\/]main\.ts$/, priority: 4 },
        { name: "base", test: /src[\\/](?:base|protocol)[\\/]index\.ts$/, priority: 3 },
        {
          name: "project",
          test: /src[\\/](?:artifacts[\\/]index|cli[\\/]validate|program[\\/]project-keys)\.ts$/,
          priority: 2,
        },
        {
          name: "session",
          test: /src[\\/](?:program[\\/](?:index|daily-retention)|cli[\\/](?:run|repl)|redaction[\\/]index|undo[\\/]index)\.ts$/,
          priority: 1,
        },
      ],
    },
  },
} satisfies RolldownOptions;

/** The process that holds the keys: one small file, because every session with a key waits for its start. */
export const credentialHelper = { ...input, input: { "credential-helper": "src/credential-helper.ts" }, output };

/** The thread that checks arguments against schemas of MCP servers: one file that it can be started from. */
export const schemaWorker = { ...input, input: { "schema-worker": "src/mcp/schema-worker.ts" }, output };

/** `harness-runtime/client` for pages: one file with nothing of Node in it. */
const browserClient = {
  input: { "client-browser": "src/client/index.ts" },
  platform: "browser",
  treeshake: { moduleSideEffects: false },
  output: { ...output, codeSplitting: false },
} satisfies RolldownOptions;

export default [program, credentialHelper, schemaWorker, browserClient];
