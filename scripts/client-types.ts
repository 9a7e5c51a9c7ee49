/**
 * The types of `harness/client` for programs that install the package: declarations of the client and of what it names, in
 * `dist/types`. Inside the package folders have names (`#protocol`); whoever installs it gets plain paths.
 */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const types = join(root, "dist/types");

execFileSync(join(root, "node_modules/.bin/tsc"), ["-p", join(root, "tsconfig.types.json")], { stdio: "inherit" });
for (const { parentPath, name } of readdirSync(types, { recursive: true, withFileTypes: true })) {
  if (!name.endsWith(".d.ts")) continue;
  const file = join(parentPath, name);
  writeFileSync(file, withPaths(readFileSync(file, "utf8"), dirname(file)));
}

function withPaths(text: string, folder: string): string {
  return text
    .replaceAll(/(["'])#([a-z]+)\1/g, (_whole, _quote, name: string) => {
      const path = relative(folder, join(types, name, "index.js"));
      return JSON.stringify(path.startsWith(".") ? path : `./${path}`);
    })
    .replaceAll(/(["']\.[^"']*)\.ts(["'])/g, "$1.js$2");
}
