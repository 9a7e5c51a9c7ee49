/**
 * The program of an MCP server: which file its entry names, which files decide what runs, and whether they are still those that
 * somebody approved. Nothing is started here.
 */
import { hash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { basename, isAbsolute, join, relative, resolve, sep } from "node:path";
import type { McpConnection, McpServer, PinnedFile, ServerPin } from "#artifacts";
import { EffectError } from "#base";
import { ReasonError } from "#protocol";
import {
  type FoundProgram,
  fileSha256,
  findProgram,
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
  /^(?:uv|uvx|pipx|poetry|pdm|hatch|rye|npm|npx|pnpm|pnpx|yarn|bunx|corepack|make|just|task|go|cargo|dotnet|mvn|gradle|gradlew|tox|nox|mise|direnv|nix|nix-shell)$/;
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
  const isInterpreted = INTERPRETER.test(basename(found.path));
  const scripts = isInterpreted ? scriptsIn(connection.args, place.root) : namedScripts(connection.args, place.root);
  const lock = lockOf([found.path, ...scripts], place.packages);
  const paths = [...(found.path === OWN_NODE ? [] : [found.path]), ...scripts, ...(lock === undefined ? [] : [lock])];
  const files = await Promise.all(paths.map(pinned));
  const isMain = ({ path }: PinnedFile): boolean => isInterpreted || lock !== undefined || path === found.path;
  const main = files.findLast(isMain) ?? (await pinned(found.path));
  const isOpen = RUNNER.test(basename(found.path)) || (isInterpreted && scripts.length === 0);
  return { ...found, files, main, isInterpreted, isOpen };
}

/**
 * What the sandbox of a server shows of the approved files. Those of the workspace are copies: commands of the agent could exchange the
 * originals between the check and the start. A program elsewhere is shown where its command finds it.
 */
export function approvedFiles({ files }: ServerPin, { root, packages, copies }: CopyPlace) {
  return files.flatMap(({ path, real = path, sha256 }) => {
    if (isInside(realPath(packages), real)) return [];
    if (isInside(root, real)) return [{ from: copyPath(copies, sha256), to: real }];
    return SYSTEM.test(real) && SYSTEM.test(path) ? [] : [{ from: real, to: isInside(root, path) ? real : path }];
  });
}

/** Every sandbox has these folders. */
const SYSTEM = /^\/(?:usr|bin|sbin|lib|lib64)\//;

interface CopyPlace extends ProgramPlace {
  /** Holds copies of approved files by their hashes. */
  readonly copies: string;
}

/** The path to start. Rejects with MCPServerSHA256Mismatch when what runs would not be what was approved. */
export async function approvedProgram(
  { name, connection, pin }: McpServer & { readonly connection: Stdio },
  place: CopyPlace,
): Promise<string> {
  refuseContainers(name, connection);
  const { sha256 } = connection;
  if (pin === undefined && sha256 === undefined) {
    return connection.command;
  }
  const program = await serverProgram(connection, place);
  const mismatch = (file: PinnedFile, expected: string): ReasonError =>
    new ReasonError("MCPServerSHA256Mismatch", {
      ...{ name, path: file.path, expected, actual: file.sha256 },
      profile_path: pin?.declaredIn ?? "config.toml",
    });
  if (sha256 !== undefined && program.main.sha256 !== sha256) throw mismatch(program.main, sha256);
  if (pin === undefined) return program.path;
  for (const file of program.files) {
    const approved = pin.files.find(({ path }) => path === file.path);
    if (approved === undefined) throw mismatch(file, "of another file");
    if (approved.sha256 !== file.sha256) throw mismatch(file, approved.sha256);
    if (approved.real !== file.real) throw mismatch(file, `${approved.sha256} of ${approved.real}`);
  }
  const gone = pin.files.find(({ path }) => !program.files.some((file) => file.path === path));
  if (gone !== undefined) throw mismatch({ ...gone, sha256: "no such file in the command" }, gone.sha256);
  for (const { real, path, sha256: approved } of pin.files) {
    const actual = isInside(place.root, real ?? path) ? copyApproved(real ?? path, approved, place.copies) : approved;
    if (actual !== approved) throw mismatch({ path, sha256: actual }, approved);
  }
  return program.path;
}

/** Throws an EffectError for `docker run …`, unless the user's own entry says that it may run outside the sandbox. */
export function refuseContainers(name: string, { command, unconfined }: Stdio): void {
  if (!CONTAINER_LAUNCHER.test(basename(command)) || unconfined === true) return;
  throw new EffectError(
    "SandboxRefused",
    `the MCP server '${name}' starts a container with ${basename(command)}, which no sandbox can hold. To allow it, declare the server in your own config.toml with sandbox = "off"`,
  );
}

/** Up to the script: what comes after it are its own arguments. */
function scriptsIn(args: readonly string[], root: string): readonly string[] {
  const scripts: string[] = [];
  for (const [index, arg] of args.entries()) {
    const path = fileNamed(arg, root) ?? fileNamed(arg.slice(arg.indexOf("=") + 1), root);
    if (path === undefined) continue;
    scripts.push(path);
    if (!arg.startsWith("-") && !args[index - 1]?.startsWith("-")) break;
  }
  return scripts;
}

/** In the arguments of a program that is no interpreter, and may start one. */
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

function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

async function pinned(path: string): Promise<PinnedFile> {
  const real = realPath(path);
  return { path, real, sha256: await fileSha256(real) };
}
