/**
 * Runs a program of ours that only reads (ripgrep) where it sees nothing but the workspace. It walks by names, and whoever changes a
 * folder into a link meanwhile would send it anywhere; here there is nowhere to be sent. Costs a fraction of the sandbox of a command.
 * Where that cannot be had it runs as it is.
 */
import { lstatSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { createHiddenFiles, EffectError, type ProcessExit, type ProcessPort, type ProcessSpec } from "#base";
import { findProgram } from "./probe.ts";

/** Where the program is inside. */
const INNER_PROGRAM = "/run/harness/program";
const TRY_TIMEOUT_MS = 5_000;
/** Of what bubblewrap says, to tell its failure from that of the program. */
const MAX_COMPLAINT_CHARS = 500;
/** In the folders above the workspace: what says which files are of no interest. */
const IGNORE_FILES = [".gitignore", ".ignore", ".rgignore", ".git/info/exclude"];

export interface ReaderOptions {
  /** The workspace, absolute and real. */
  readonly root: string;
  /** Files of the program itself, absolute; they are not seen either. */
  readonly ownPaths: readonly string[];
  /** Searched for `bwrap` after the folders of the system. */
  readonly path: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Starts programs outside. */
  readonly processes: ProcessPort;
  /** What was found out so far, shared by all sessions. */
  readonly tried: TriedReaders;
}

/** By program and workspace: the command line in front of it, or undefined where it cannot run so. */
export type TriedReaders = Map<string, Promise<readonly string[] | undefined>>;

export function createWorkspaceReader(options: ReaderOptions): ProcessPort {
  const { root, processes, tried } = options;

  function wrapperFor(file: string): ReturnType<typeof findWrapper> {
    // A workspace may lie where it cannot be mounted.
    const key = JSON.stringify([file, root]);
    const known = tried.get(key) ?? findWrapper(file);
    tried.set(key, known);
    // What could not be found out is tried again.
    known.catch(() => tried.delete(key));
    return known;
  }

  async function findWrapper(file: string): Promise<readonly string[] | undefined> {
    const bwrap = process.platform === "linux" ? findProgram("bwrap", options.path) : undefined;
    if (bwrap === undefined || !isAbsolute(file)) return undefined;
    for (const namespace of [["--unshare-user"], []]) {
      const wrapper = [bwrap, ...namespace];
      const { exit } = await runIn(wrapper, { file, args: ["--version"], timeoutMs: TRY_TIMEOUT_MS }, NEVER);
      if (exit.ended !== "exit" || exit.code === null) {
        throw new EffectError(
          "SpawnFailed",
          "whether the workspace can be looked at alone was not found out in time; try again",
        );
      }
      if (exit.code === 0) return wrapper;
    }
    return undefined;
  }

  async function runIn(
    [bwrap = "", ...namespace]: readonly string[],
    { cwd = ".", ...spec }: ProcessSpec,
    signal: AbortSignal,
  ): Promise<{ readonly exit: ProcessExit; readonly complaint: string }> {
    let complaint = "";
    const args = [
      ...namespace,
      "--die-with-parent",
      ...readable("--ro-bind", root),
      ...aroundWorkspace(root, options.env),
      ...unseen(),
      "--ro-bind",
      spec.file,
      INNER_PROGRAM,
      "--chdir",
      join(root, cwd),
      "--",
      INNER_PROGRAM,
      ...spec.args,
    ];
    const onOutput: ProcessSpec["onOutput"] = (stream, chunk) => {
      if (stream === "stderr") complaint = (complaint + chunk.toString("utf8")).slice(0, MAX_COMPLAINT_CHARS);
      spec.onOutput?.(stream, chunk);
    };
    const exit = await processes.run({ ...spec, file: bwrap, args, onOutput }, signal);
    return { exit, complaint };
  }

  /** Looked at each time: what is not there yet has no place to be covered. */
  function unseen(): string[] {
    return createHiddenFiles(root, options.ownPaths).paths.flatMap((path) => {
      const full = join(root, path);
      const info = lstatSync(full, { throwIfNoEntry: false });
      if (info === undefined) return [];
      return info.isDirectory() ? ["--tmpfs", full] : ["--ro-bind", "/dev/null", full];
    });
  }

  return {
    async run(spec, signal) {
      const wrapper = root === "/" ? undefined : await wrapperFor(spec.file);
      if (wrapper === undefined) return processes.run(spec, signal);
      const { exit, complaint } = await runIn(wrapper, spec, signal);
      // The exit code alone would say that nothing was found.
      if (exit.ended === "exit" && exit.code === 1 && complaint.startsWith("bwrap: ")) {
        throw new EffectError("SpawnFailed", `the workspace changed before it could be looked at: ${complaint.trim()}`);
      }
      return exit;
    },
  };
}

const NEVER = new AbortController().signal;

function readable(kind: "--ro-bind" | "--ro-bind-try", path: string): string[] {
  return [kind, path, path];
}

/** Ignore files of the folders above the workspace, where a repository begins there, and what the person ignores everywhere. */
function aroundWorkspace(root: string, env: ReaderOptions["env"]): string[] {
  const args: string[] = [];
  const showFile = (path: string): void => {
    if (lstatSync(path, { throwIfNoEntry: false })?.isFile()) args.push(...readable("--ro-bind-try", path));
  };
  for (let folder = dirname(root); ; folder = dirname(folder)) {
    const git = join(folder, ".git");
    if (lstatSync(git, { throwIfNoEntry: false }) !== undefined) args.push("--dir", git);
    for (const name of IGNORE_FILES) showFile(join(folder, name));
    if (folder === dirname(folder)) break;
  }
  // Programs get no other variable that says where settings are.
  if (env.HOME !== undefined && isAbsolute(env.HOME)) showFile(join(env.HOME, ".config/git/ignore"));
  return args;
}
