/** The examples of plugins, compiled against the sources; `test/e2e/plugins.test.ts` runs them. */
import { execFile } from "node:child_process";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { createCliHome } from "../fakes/cli-process.ts";

test("the examples of plugins have the types of the package", { timeout: 300_000 }, async () => {
  const root = resolve(import.meta.dirname, "../..");
  const files = ["release-freeze.mjs", "lines-wire.mjs"].map((name) => join(root, "examples/plugin", name));
  const options = {
    extends: join(root, "tsconfig.json"),
    compilerOptions: {
      allowJs: true,
      checkJs: true,
      typeRoots: [join(root, "node_modules/@types")],
      paths: {
        "harness-runtime": [join(root, "src/embed.ts")],
        "better-sqlite3-multiple-ciphers": [join(root, "node_modules/better-sqlite3-multiple-ciphers/index.d.ts")],
      },
    },
    files,
    include: [],
  };
  const project = createCliHome().put("tsconfig.json", JSON.stringify(options));
  const tsc = join(root, "node_modules/.bin/tsc");
  const { stdout } = await promisify(execFile)(tsc, ["-p", project]).catch((error: { stdout: string }) => error);
  expect(stdout).toBe("");
});
