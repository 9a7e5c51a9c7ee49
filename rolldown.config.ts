import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { defineConfig, type InputOptions, type OutputOptions, type Plugin, type RolldownOptions } from "rolldown";

const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };

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

const input = {
  platform: "node",
  // Native and data-carrying packages stay outside.
  external: ["better-sqlite3-multiple-ciphers", /^better-sqlite3-multiple-ciphers\//, "@vscode/ripgrep"],
  transform: {
    define: { HARNESS_BUILD: JSON.stringify({ version, commit: commit(), builtAt: new Date().toISOString() }) },
  },
  plugins: [plainBuiltins],
} satisfies InputOptions;

const output = {
  dir: "dist",
  format: "esm",
  chunkFileNames: "[name]-[hash].js",
  minify: { mangle: false, compress: true },
} satisfies OutputOptions;

/**
 * One program, split only where a part is loaded on demand. What every session needs is in few files, because each costs time to
 * find: `frame` is there for all commands, `project` for those that read one, `session` for those that run one.
 */
const program = {
  ...input,
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
          test: /src[\\/](?:artifacts[\\/]index|cli[\\/](?:validate|project-keys))\.ts$/,
          priority: 2,
        },
        {
          name: "session",
          test: /src[\\/](?:harness|cli[\\/](?:run|repl|daily-retention)|redaction[\\/]index|undo[\\/]index)\.ts$/,
          priority: 1,
        },
      ],
    },
  },
} satisfies RolldownOptions;

/** The process that holds the keys: one small file, because every session with a key waits for its start. */
const credentialHelper = { ...input, input: { "credential-helper": "src/credential-helper.ts" }, output };

export default defineConfig([program, credentialHelper]);
