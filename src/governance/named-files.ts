/**
 * Which programs and files a command names, wherever it would look for them: operands, values of options, redirects, what a
 * pattern finds, and what its programs read by themselves. For binding a yes to them; too many names do no harm here.
 */
import { EffectError } from "#base";
import type { DiskReader } from "./disk-view.ts";
import { inFolder } from "./on-disk.ts";
import { analyseShell } from "./shell/analysis.ts";
import { everyCommand, type SimpleCommand } from "./shell/command.ts";
import { isInterpreter, programName } from "./shell/wrappers.ts";
import { hasGlob, matchWildcard } from "./wildcard.ts";

export interface NamedByCommand {
  /** `folder` is where it starts, from the workspace root. */
  readonly programs: readonly { readonly name: string; readonly folder: string }[];
  /** From the workspace root, or absolute. What is written in the command comes first. */
  readonly files: ReadonlySet<string>;
}

/** Names that one pattern may stand for; beyond it the rest is not looked at. */
const MAX_MATCHES = 200;
/** A script or its folder is among the first words of its interpreter. */
const MAX_DERIVED_WORDS = 4;

/** Programs that run what a file of the project says, and the files that say it. */
const RUNNERS: ReadonlyMap<string, readonly string[]> = new Map([
  ...["npm", "npx", "pnpm", "yarn", "bun", "node", "tsx", "deno"].map((name): [string, readonly string[]] => [
    name,
    ["package.json", "deno.json", ".npmrc"],
  ]),
  ...["make", "gmake"].map((name): [string, readonly string[]] => [name, ["GNUmakefile", "makefile", "Makefile"]]),
  ["just", ["justfile", "Justfile", ".justfile"]],
  ["task", ["Taskfile.yml", "Taskfile.yaml"]],
  ["cargo", ["Cargo.toml", "build.rs", ".cargo/config.toml"]],
  ["go", ["go.mod"]],
  ["mvn", ["pom.xml"]],
  ["gradle", ["build.gradle", "build.gradle.kts", "settings.gradle"]],
  ["docker", ["Dockerfile", "docker-compose.yml", "compose.yml", "compose.yaml"]],
  ...["pytest", "tox", "nox", "pip", "pip3", "uv", "poetry"].map((name): [string, readonly string[]] => [
    name,
    ["pyproject.toml", "setup.py", "setup.cfg", "conftest.py", "tox.ini"],
  ]),
  ...["rake", "bundle", "rspec"].map((name): [string, readonly string[]] => [name, ["Rakefile", "Gemfile"]]),
]);

/** What an interpreter tries when a script or module is named without its file. */
const ENDINGS = ".js .mjs .cjs .ts .py .rb .sh /index.js /index.ts /__main__.py /__init__.py".split(" ");

/** `cwd` is where the whole command starts, from the workspace root. */
export async function whatCommandNames(command: string, cwd: string, files: DiskReader): Promise<NamedByCommand> {
  const analysis = analyseShell(command);
  const programs = new Map<string, { name: string; folder: string }>();
  const named = new Set<string>();
  const derived = new Set<string>();
  const addProgram = (name: string, folder: string): void => {
    programs.set(`${folder}\0${name}`, { name, folder });
  };
  for (const simple of everyCommand(analysis.commands)) {
    for (const place of simple.folders) {
      const folder = place === "." ? cwd : cwd === "." ? place : inFolder(cwd, place);
      const [program] = simple.words;
      if (program !== undefined) addProgram(program, folder);
      for (const name of namedBy(simple)) named.add(inFolder(folder, name));
      for (const name of derivedFrom(simple)) derived.add(inFolder(folder, name));
      for (const name of await matchesOf(simple, folder, files)) named.add(name);
    }
  }
  if (!analysis.understood) {
    for (const folder of looseFolders(command, cwd)) {
      for (const word of looseWords(command)) {
        addProgram(word, folder);
        named.add(inFolder(folder, word));
      }
    }
  }
  return { programs: [...programs.values()], files: new Set([...named, ...derived]) };
}

function namedBy(simple: SimpleCommand): readonly string[] {
  const words = [...simple.words, ...simple.redirects.map(({ path }) => path)];
  return [...(RUNNERS.get(programName(simple.words)) ?? []), ...words.flatMap(partsOf)];
}

/** What its program makes of the names: the files of the folder in `make -C sub`, the file of `python -m sub.module`. */
function derivedFrom(simple: SimpleCommand): readonly string[] {
  const name = programName(simple.words);
  const own = RUNNERS.get(name) ?? [];
  const parts = simple.words.slice(1, 1 + MAX_DERIVED_WORDS).flatMap(partsOf);
  const inFolders = parts.flatMap((part) => own.map((file) => `${part}/${file}`));
  if (!isInterpreter(name)) return inFolders;
  const stems = new Set(parts.flatMap((part) => [part, part.replaceAll(".", "/")]));
  return [...inFolders, ...[...stems].flatMap((stem) => ENDINGS.map((ending) => stem + ending))];
}

/** The word itself, and what may be a value in it: `-Csub`, `--prefix=sub`, `if=file`. */
function partsOf(word: string): readonly string[] {
  const value = word.includes("=") ? [word.slice(word.indexOf("=") + 1)] : [];
  const parts = word.startsWith("-") ? [...value, ...(/^-[^-]./.test(word) ? [word.slice(2)] : [])] : [word, ...value];
  return parts.filter((part) => part !== "" && !part.includes("\0") && !part.includes("://"));
}

/** The files that its patterns find now, when only the last part of a name is one; and the folder, where another may appear. */
async function matchesOf(
  { words, globbed }: SimpleCommand,
  folder: string,
  files: DiskReader,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const index of globbed) {
    const word = words[index] ?? "";
    const cut = word.lastIndexOf("/");
    const place = inFolder(folder, cut < 0 ? "." : word.slice(0, cut) || "/");
    const last = word.slice(cut + 1);
    if (hasGlob(place)) continue;
    for (const name of await namesIn(place, files)) {
      if (found.length >= MAX_MATCHES) return found;
      if (/[[\\{]/.test(last) || matchWildcard(last, name)) found.push(place === "." ? name : `${place}/${name}`);
    }
  }
  return found;
}

async function namesIn(folder: string, files: DiskReader): Promise<readonly string[]> {
  try {
    return (await files.list(folder)).map(({ name }) => name);
  } catch (error) {
    // Not there, or not ours to read: then the pattern finds nothing.
    if (error instanceof EffectError) return [];
    throw error;
  }
}

/** For what was not understood: anything that looks like a word, in every folder that it seems to go to. */
function looseWords(command: string): string[] {
  const words = command.split(/[\s;|&<>()"'`$={}]+/).filter((word) => word !== "" && !word.startsWith("-"));
  return [...new Set(words)].slice(0, MAX_LOOSE_WORDS);
}

const MAX_LOOSE_FOLDERS = 4;
/** An approval is bound to fewer files than these. */
const MAX_LOOSE_WORDS = 1000;

function looseFolders(command: string, cwd: string): string[] {
  const gone = [...command.matchAll(/(?:\b(?:cd|pushd)\s+|\s-C\s*)["']?([^\s"';|&<>()`$]+)/g)].map(
    (match) => match[1] ?? ".",
  );
  return [...new Set([cwd, ...gone.map((folder) => inFolder(cwd, folder))])].slice(0, MAX_LOOSE_FOLDERS);
}
