/**
 * The types of what the package exports, for programs that install it: declarations of the entries and of every file that they
 * name, in `dist/types`. Inside the package folders have names (`#protocol`); whoever installs it gets plain paths.
 */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

interface Manifest {
  /** `#name` to a file of `src/`. */
  readonly imports: Readonly<Record<string, string>>;
  /** A plain path is data. */
  readonly exports: Readonly<Record<string, { readonly types: string } | string>>;
}

const root = resolve(import.meta.dirname, "..");
const types = join(root, "dist/types");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Manifest;

/** After the bundle, whose build empties `dist`. */
export function writePackageTypes(): void {
  execFileSync(join(root, "node_modules/.bin/tsc"), ["-p", join(root, "tsconfig.types.json")], { stdio: "inherit" });
  const published = new Set<string>();
  for (const entry of Object.values(manifest.exports)) {
    if (typeof entry === "string") continue;
    const file = entry.types;
    publish(join(root, file), published);
    writeFileSync(join(root, file), `/// <reference types="node" />\n${readFileSync(join(root, file), "utf8")}`);
  }
  // What is left over describes nothing that is exported.
  for (const { parentPath, name } of readdirSync(types, { recursive: true, withFileTypes: true })) {
    const file = join(parentPath, name);
    if (name.endsWith(".d.ts") && !published.has(file)) rmSync(file);
  }
}

/** Writes plain paths into a declaration file and into those it names. */
function publish(file: string, published: Set<string>): void {
  if (published.has(file)) return;
  published.add(file);
  const named: string[] = [];
  const text = readFileSync(file, "utf8").replaceAll(
    /(?<=\bfrom |\bimport\(|^import )(["'])([#.][^"']*)\1/gm,
    (_whole, _quote, specifier: string) => {
      const target = declarationOf(specifier, dirname(file));
      named.push(target);
      const path = relative(dirname(file), target).replace(/\.d\.ts$/, ".js");
      return JSON.stringify(path.startsWith(".") ? path : `./${path}`);
    },
  );
  writeFileSync(file, text);
  for (const target of named) publish(target, published);
}

function declarationOf(specifier: string, folder: string): string {
  const source = manifest.imports[specifier];
  if (specifier.startsWith("#") && source === undefined) throw new Error(`package.json has no entry for ${specifier}`);
  const path = source === undefined ? resolve(folder, specifier) : join(types, relative("src", source));
  return path.replace(/\.ts$/, ".d.ts");
}
