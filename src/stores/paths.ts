/** Where the program keeps its files, by the XDG base directory rules. Computes paths only; creates nothing. */
import { isAbsolute, join } from "node:path";
import { ReasonError } from "#protocol";

const APPLICATION = "harness";

/** In the cache: compiled code that this program runs, projects as it has read them, lists of models, and the caches of other workspaces. */
const OWN_CACHES = ["compile-cache", "projects", "catalogs", "workspaces"];

export interface HarnessPaths {
  /** The session log: `$XDG_DATA_HOME/harness/sessions.db`. */
  readonly sessionsDb: string;
  readonly dataDir: string;
  readonly configDir: string;
  readonly stateDir: string;
}

/**
 * A pure function of the environment. An empty or relative XDG variable is ignored, as the XDG rules ask. Throws when a
 * default is needed and `HOME` is not an absolute path.
 */
export function harnessPaths(env: Readonly<Record<string, string | undefined>>): HarnessPaths {
  const base = (variable: string, fallback: string): string => applicationFolder(env, variable, fallback);
  const dataDir = base("XDG_DATA_HOME", ".local/share");
  return {
    sessionsDb: join(dataDir, "sessions.db"),
    dataDir,
    configDir: base("XDG_CONFIG_HOME", ".config"),
    stateDir: base("XDG_STATE_HOME", ".local/state"),
  };
}

/** What MCP servers keep and packages that were installed for them, a folder for each server; copies of approved files; what was approved of their tools. Throws as {@link harnessPaths} does. */
export function serverFolders(env: Readonly<Record<string, string | undefined>>) {
  const { dataDir, stateDir } = harnessPaths(env);
  return {
    state: join(dataDir, "mcp"),
    packages: join(dataDir, "mcp-packages"),
    files: join(dataDir, "mcp-files"),
    tools: join(stateDir, "mcp-tools"),
  };
}

/** What stands in workspaces while commands run there. Undefined without HOME. */
export function heldNames(env: Readonly<Record<string, string | undefined>>): string | undefined {
  try {
    return join(harnessPaths(env).stateDir, "held");
  } catch {
    return undefined;
  }
}

/** The folders of the program, wherever the environment says that they are. */
export function ownFolders(env: Readonly<Record<string, string | undefined>>): string[] {
  try {
    const { dataDir, configDir, stateDir } = harnessPaths(env);
    // Not the cache as a whole: sessions without a folder work in one of it.
    return [dataDir, configDir, stateDir, ...OWN_CACHES.map((name) => join(harnessCache(env), name))];
  } catch {
    // Without HOME the program has no usual folders, so there is nothing in them.
    return [];
  }
}

/** What no workspace may hold: {@link ownFolders}, and the folder with those of all sessions that name none. */
export function foldersApart(env: Readonly<Record<string, string | undefined>>): string[] {
  return [...ownFolders(env), ...[scratchBase(env) ?? [], worktreeBase(env) ?? []].flat()];
}

/** Where the sessions that name no folder work, each in a folder of its own. Undefined without HOME. */
export function scratchBase(env: Readonly<Record<string, string | undefined>>): string | undefined {
  return inCache(env, "scratch");
}

/** Where delegates work that have a git worktree of their own. Undefined without HOME. */
export function worktreeBase(env: Readonly<Record<string, string | undefined>>): string | undefined {
  return inCache(env, "worktrees");
}

function inCache(env: Readonly<Record<string, string | undefined>>, name: string): string | undefined {
  try {
    return join(harnessCache(env), name);
  } catch {
    return undefined;
  }
}

/** What can be made again, or is nobody's yet: `$XDG_CACHE_HOME/harness`. Throws as {@link harnessPaths} does. */
export function harnessCache(env: Readonly<Record<string, string | undefined>>): string {
  return applicationFolder(env, "XDG_CACHE_HOME", ".cache");
}

function applicationFolder(
  env: Readonly<Record<string, string | undefined>>,
  variable: string,
  fallback: string,
): string {
  const given = env[variable];
  if (given !== undefined && isAbsolute(given)) return join(given, APPLICATION);
  return join(homeOf(env, variable), fallback, APPLICATION);
}

function homeOf(env: Readonly<Record<string, string | undefined>>, wanted: string): string {
  const home = env.HOME || env.USERPROFILE;
  if (home === undefined || !isAbsolute(home)) {
    const detail = `neither ${wanted} nor HOME is an absolute path, so Harness has no place for its files; set HOME`;
    throw new ReasonError("ConfigInvalid", detail);
  }
  return home;
}
