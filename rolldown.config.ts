import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { defineConfig } from "rolldown";

const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };

/** Absent outside a clone, where there is no git. */
function commit(): string {
  try {
    return execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim();
  } catch {
    return "unknown";
  }
}

/** One program, split only where a part is loaded on demand. Native and data-carrying packages stay outside. */
export default defineConfig({
  input: {
    main: "src/main.ts",
    embed: "src/embed.ts",
    client: "src/client/index.ts",
    starlark: "src/starlark/index.ts",
    "credential-helper": "src/credential-helper.ts",
  },
  platform: "node",
  external: ["better-sqlite3-multiple-ciphers", /^better-sqlite3-multiple-ciphers\//, "@vscode/ripgrep"],
  transform: {
    define: { HARNESS_BUILD: JSON.stringify({ version, commit: commit(), builtAt: new Date().toISOString() }) },
  },
  output: {
    dir: "dist",
    format: "esm",
    cleanDir: true,
    chunkFileNames: "[name]-[hash].js",
    minify: { mangle: false, compress: true },
  },
});
