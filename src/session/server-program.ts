/**
 * The program of an MCP server: which file its entry names, which files decide what runs, and whether they are still those that
 * somebody approved. Nothing is started here.
 */
import { hash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { basename, join, relative, resolve, sep } from "node:path";
import type { McpConnection, McpServer, PinnedFile } from "#artifacts";
import { EffectError } from "#base";
import { ReasonError } from "#protocol";
import {
  type FoundProgram,
  fileSha256,
  findProgram,
  isInside,
  makePrivateDirectory,
  realPath,
  realPathIfThere,
  writePrivateFile,
} from "#world";

/** Their first arguments name what runs. */
const INTERPRETER =
  /^(?:node|nodejs|bun|deno|tsx|python[\d.]*|pypy[\d.]*|ruby|perl|php|lua|java|R|Rscript|bash|dash|zsh|sh|env)$/;
/** They run what other files say, or what they fetch: a hash of them says little about what runs. */
const RUNNER =
  /^(?:uv|uvx|pipx|poetry|pdm|hatch|rye|npm|npx|pnpm|pnpx|yarn|bunx|corepack|make|just|task|go|cargo|dotnet|mvn|gradle|gradlew|tox|nox|mise|direnv|nix|nix-shell|env)$/;
/** Files that programs run, by their names: other arguments are data, which may change. */
const SCRIPT = /\.(?:[cm]?[jt]sx?|pyw?|pyz|rb|pl|php|lua|sh|bash|zsh|fish|jar|ps1|r|exs?)$/i;
/** They hand the program to a service outside every sandbox. */
const CONTAINER_LAUNCHER = /^(?:docker|podman|nerdctl)$/;
/** The one that runs us: what it is, our own installation decides. */
const OWN_NODE = process.execPath;

export interface ProgramPlace {
  /** The workspace. */
  readonly root: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder in which packages of servers are installed. */
  readonly packages: string;
}

export interface ServerProgram extends FoundProgram {
  /** The program and its scripts, and the lock file of a package that was installed for it. */
  readonly files: readonly PinnedFile[];
  /** The one whose hash an entry names. */
  readonly main: PinnedFile;
  /** Its arguments say what runs. */
  readonly isInterpreted: boolean;
  /** More than `files` decides what runs. */
  readonly isOpen: boolean;
}

type Stdio = Extract<McpConnection, { readonly kind: "stdio" }>;

/** Rejects with an EffectError when there is no such program, or it cannot be read. */
export async function serverProgram(connection: Stdio, place: ProgramPlace): Promise<ServerProgram> {
  const found = findProgram(connection.command, place);
  if (found === undefined) throw new EffectError("NotFound", `the program ${connection.command} does not exist`);
  const isInterpreted = isInterpreter(found.path);
  const { options, main: script } = isInterpreted ? scriptsIn(connection.args, place.root) : NO_SCRIPT;
  const scripts = [...new Set([...options, ...(script ?? []), ...namedScripts(connection.args, place.root)])];
  const lock = lockOf([found.path, ...scripts], place.packages);
  const paths = [...(found.path === OWN_NODE ? [] : [found.path]), ...scripts, ...(lock === undefined ? [] : [lock])];
  const files = await Promise.all(paths.map(pinned));
  // What an entry's own hash is about.
  const mainPath = lock ?? script?.[0] ?? options.at(-1) ?? found.path;
  const main = files.find(({ path }) => path === mainPath) ?? (await pinned(found.path));
  const isOpen = RUNNER.test(basename(found.path)) || (isInterpreted && script === undefined);
  return { ...found, files, main, isInterpreted, isOpen };
}

/**
 * What the sandbox of a server shows of the approved files. Those of the workspace are copies: commands of the agent could exchange the
 * originals between the check and the start. A program elsewhere is shown where its command finds it.
 */
export function approvedFiles({ path: program, files }: ApprovedProgram, { root, packages, copies }: CopyPlace) {
  const shown = files.flatMap(({ path, real = path, sha256 }) => {
    if (isInside(realPath(packages), real)) return [];
    if (isInside(root, real)) return [{ from: copyPath(copies, sha256), to: real }];
    return SYSTEM.test(real) && SYSTEM.test(path) ? [] : [{ from: real, to: isInside(root, path) ? real : path }];
  });
  // Nobody approves it, and it may be in a folder of the user, which no sandbox has.
  if (program !== OWN_NODE || SYSTEM.test(OWN_NODE) || isInside(root, OWN_NODE)) return shown;
  return [...shown, { from: OWN_NODE, to: OWN_NODE }];
}

/** Every sandbox has these folders. */
const SYSTEM = /^\/(?:usr|bin|sbin|lib|lib64)\//;

interface CopyPlace extends ProgramPlace {
  /** Holds copies of approved files by their hashes. */
  readonly copies: string;
}

type ProgramEntry = McpServer & { readonly connection: Stdio };

/** What is started, and the files of it that the sandbox has to show as they were approved. */
export interface ApprovedProgram {
  /** A path, or the command as it is written where nothing was approved. */
  readonly path: string;
  readonly files: readonly PinnedFile[];
}

/** Rejects with MCPServerSHA256Mismatch when what runs would not be what was approved. */
export async function approvedProgram(server: ProgramEntry, place: CopyPlace): Promise<ApprovedProgram> {
  const program = await checkProgram(server, place);
  for (const { real, path: named, sha256 } of server.pin?.files ?? []) {
    const file = real ?? named;
    const actual = isInside(place.root, file) ? copyApproved(file, sha256, place.copies) : sha256;
    if (actual !== sha256) throw mismatchOf(server, { path: named, sha256: actual }, sha256);
  }
  return program;
}

/** The same without the copies that a start needs. */
export async function checkProgram(server: ProgramEntry, place: ProgramPlace): Promise<ApprovedProgram> {
  const { name, connection, pin } = server;
  refuseContainers(name, connection);
  const { sha256 } = connection;
  if (pin === undefined && sha256 === undefined) return { path: connection.command, files: [] };
  const program = await serverProgram(connection, place);
  if (sha256 !== undefined && program.main.sha256 !== sha256) throw mismatchOf(server, program.main, sha256);
  if (pin === undefined) return { path: program.path, files: [] };
  const shown = [...pin.files];
  for (const file of program.files) {
    const approved = pin.files.find(({ path }) => path === file.path);
    if (approved === undefined && isOwnInterpreter(server, program, file, place.root)) {
      shown.push(file);
      continue;
    }
    if (approved === undefined) throw mismatchOf(server, file, "of another file");
    if (approved.sha256 !== file.sha256) throw mismatchOf(server, file, approved.sha256);
    if (approved.real !== file.real) throw mismatchOf(server, file, `${approved.sha256} of ${approved.real}`);
  }
  const gone = pin.files.find(({ path }) => !program.files.some((file) => file.path === path));
  if (gone !== undefined) throw mismatchOf(server, { ...gone, sha256: "no such file in the command" }, gone.sha256);
  return { path: program.path, files: shown };
}

/** Where an answer comes from another machine, the interpreter is the one that is here, unless the project brings it. */
function isOwnInterpreter({ pin }: ProgramEntry, program: ServerProgram, file: PinnedFile, root: string): boolean {
  const isOutside = !isInside(root, file.path) && !isInside(root, file.real ?? file.path);
  return pin?.leavesInterpreter === true && program.isInterpreted && file.path === program.path && isOutside;
}

function mismatchOf(
  { name, pin, declaredIn }: ProgramEntry,
  { path, sha256 }: PinnedFile,
  expected: string,
): ReasonError {
  const profile_path = pin?.declaredIn ?? declaredIn ?? "config.toml";
  return new ReasonError("MCPServerSHA256Mismatch", { name, path, expected, actual: sha256, profile_path });
}

/** Its arguments name what runs. */
export function isInterpreter(path: string): boolean {
  return INTERPRETER.test(basename(path));
}

/** Throws an EffectError for `docker run …`, unless the user's own entry says that it may run outside the sandbox. */
export function refuseContainers(name: string, { command, unconfined }: Stdio): void {
  if (!CONTAINER_LAUNCHER.test(basename(command)) || unconfined === true) return;
  throw new EffectError(
    "SandboxRefused",
    `the MCP server '${name}' starts a container with ${basename(command)}, which no sandbox can hold. To allow it, declare the server in your own config.toml with sandbox = "off"`,
  );
}

interface NamedFiles {
  /** Files in options before the script. */
  readonly options: readonly string[];
  /** The script itself, where it is a file. */
  readonly main?: readonly [string];
}

const NO_SCRIPT: NamedFiles = { options: [] };

/** Up to the script: what comes after it are its own arguments. */
function scriptsIn(args: readonly string[], root: string): NamedFiles {
  const options: string[] = [];
  for (const [index, arg] of args.entries()) {
    const path = fileNamed(arg, root) ?? fileNamed(arg.slice(arg.indexOf("=") + 1), root);
    if (path === undefined) continue;
    if (!arg.startsWith("-") && !args[index - 1]?.startsWith("-")) return { options, main: [path] };
    options.push(path);
  }
  return { options };
}

/** Also behind a word that passes for a script, or is a command of a program that starts another one. */
function namedScripts(args: readonly string[], root: string): readonly string[] {
  const paths = args.flatMap((arg) => fileNamed(arg, root) ?? fileNamed(arg.slice(arg.indexOf("=") + 1), root) ?? []);
  return [...new Set(paths)].filter((path) => SCRIPT.test(path));
}

function fileNamed(arg: string, root: string): string | undefined {
  if (arg === "" || arg.includes("\0")) return undefined;
  const path = resolve(root, arg);
  const real = realPathIfThere(path);
  return real !== undefined && isFile(real) ? path : undefined;
}

/** The lock file of the installed package that one of the files belongs to. */
function lockOf(files: readonly string[], packages: string): string | undefined {
  const folder = realPath(packages);
  for (const file of files) {
    const [server = "", ...rest] = relative(folder, realPath(file)).split(sep);
    if (server === ".." || server === "" || rest.length === 0) continue;
    return ["package-lock.json", "requirements.txt"].map((name) => join(folder, server, name)).find(isFile);
  }
  return undefined;
}

/** The hash of what was copied: what is not as approved is not kept. */
function copyApproved(file: string, sha256: string, copies: string): string {
  const copy = copyPath(copies, sha256);
  if (isFile(copy)) return sha256;
  const bytes = readFileSync(file);
  const actual = hash("sha256", bytes, "hex");
  if (actual !== sha256) return actual;
  makePrivateDirectory(copies);
  writePrivateFile(copy, bytes, { durable: false, mode: COPY_MODE });
  return sha256;
}

/** It may be a program. */
const COPY_MODE = 0o700;

function copyPath(copies: string, sha256: string): string {
  return join(copies, sha256);
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

async function pinned(path: string): Promise<PinnedFile> {
  const real = realPath(path);
  return { path, real, sha256: await fileSha256(real) };
}
