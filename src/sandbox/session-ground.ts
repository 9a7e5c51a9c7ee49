/**
 * What the commands of one session stand on: the view of the machine, the folders of the session, and what lies in and around its
 * workspace. Found out when a command first needs it. Only facts about the machine outlive the session.
 */
import { lstatSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { type Clock, once } from "#base";
import { childEnvironment, homeFolders, realPath, realPathIfThere } from "#world";
import { settingsCopies, toolchainMounts } from "./home-view.ts";
import { createPlaceholderIgnore, type PlaceholderIgnore } from "./placeholder-ignore.ts";
import type { PolicyOptions } from "./policy.ts";
import { createProgramPaths } from "./program-paths.ts";
import { isInside } from "./repositories.ts";
import { repositoriesAround } from "./repository-around.ts";
import type { Mount } from "./sandbox.ts";
import { createSessionFolder, type SessionFolder, type WorkspaceCache, workspaceCache } from "./session-folder.ts";
import { type SystemView, systemView } from "./system-view.ts";
import { surveyWorkspace, type WorkspaceSurvey } from "./workspace-survey.ts";

const SYSTEM_VIEW_MS = 60_000;
/** In the folders above the workspace: what says which files are of no interest. */
const IGNORE_FILES = [".gitignore", ".ignore", ".rgignore", ".git/info/exclude"];

export interface GroundOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** Files and folders of this program. */
  readonly ownPaths: readonly string[];
  /** Of the workspace, by a path relative to it. */
  readonly isSecret: (path: string) => boolean;
  /** Folders of the machine that the user shows to commands besides the usual ones. */
  readonly readOnlyPaths: readonly string[];
}

export interface SessionGround {
  /** The search path of commands. */
  readonly path: string;
  readonly home: string;
  folder(): SessionFolder;
  system(): SystemView;
  survey(): WorkspaceSurvey;
  /** Of the repository that the workspace is a part of, the workspace left out. */
  surveyAround(): WorkspaceSurvey | undefined;
  cache(): WorkspaceCache;
  /** For allowed commands: git must not try to remove placeholders. */
  placeholders(): PlaceholderIgnore;
  /** What every confinement begins with. */
  base(cwd: string, deniedPrograms: readonly string[]): PolicyOptions;
  /** Files in which git is configured for all repositories; some may not exist. */
  gitConfigurations(): readonly string[];
  /** For a search: ignore files outside the workspace that count in it, and `.git` folders above it, which end its way up. */
  above(): { readonly ignoreFiles: readonly Mount[]; readonly gitFolders: readonly string[] };
  close(): void;
}

/** One view of the machine for all sessions; looked at again after a while, because settings change. */
export function createSystemViews(clock: Clock): (path: string, extra: readonly string[]) => SystemView {
  const known = new Map<string, { readonly view: SystemView; readonly atMs: number }>();
  return (path, extra) => {
    const key = JSON.stringify([path, extra]);
    const found = known.get(key);
    const nowMs = clock.monotonicMs();
    if (found !== undefined && nowMs - found.atMs < SYSTEM_VIEW_MS) return found.view;
    const view = systemView(path, extra);
    known.set(key, { view, atMs: nowMs });
    return view;
  };
}

export function createSessionGround(
  root: string,
  { env, clock, ownPaths, isSecret, readOnlyPaths }: GroundOptions,
  systemViews: ReturnType<typeof createSystemViews>,
): SessionGround {
  const path = childEnvironment(env, root).PATH ?? "";
  const homes = homeFolders(env).filter((folder) => folder !== "/");
  const home = realPath(homes[0] ?? "/home/harness");
  let opened: SessionFolder | undefined;
  let ignore: PlaceholderIgnore | undefined;
  const folder = (): SessionFolder => {
    opened ??= createSessionFolder(clock.now(), home, settingsCopies(home));
    return opened;
  };
  const survey = once(() => surveyWorkspace(root, isSecret));
  // Looked at once: where they are mounted is fixed from the first command on.
  const toolchains = once(() => toolchainMounts(home, path));
  const around = once(() => repositoriesAround(root, homes));
  // The home of a command is mounted over what the system shows; these come after it.
  const inHome = once(() =>
    readOnlyPaths.filter(
      (path) => homes.some((folder) => isInside(folder, path)) && realPathIfThere(path) !== undefined,
    ),
  );
  const surveyAround = once(() => {
    const outer = around().find((folder) => isInside(folder, root));
    return outer === undefined ? undefined : surveyWorkspace(outer, isSecret, root);
  });
  const programPaths = createProgramPaths(path, clock);
  const system = (): SystemView => systemViews(path, readOnlyPaths);
  return {
    path,
    home,
    folder,
    system,
    survey,
    surveyAround,
    cache: once(() => {
      const own = join(folder().path, "caches");
      const kept = cacheFolder(env, homes) ?? own;
      // A workspace is mounted there; other sessions could lead that mount astray.
      const holdsWorkspace = [".cache", ".m2"].some((name) => isInside(join(home, name), root));
      // Commands could put a link in the place of what is mounted.
      const isInWorkspace = isInside(root, realPath(kept));
      return workspaceCache(holdsWorkspace || isInWorkspace ? own : kept, root, clock.now());
    }),
    placeholders() {
      const { path: own, home: privateHome } = folder();
      const personal = join(own, "settings/.config/git/ignore");
      ignore ??= createPlaceholderIgnore(join(own, "git"), privateHome, root, personal);
      return ignore;
    },
    base: (cwd, deniedPrograms) => ({
      root,
      cwd,
      home,
      system: system(),
      toolchains: toolchains(),
      around: [...around(), ...inHome()],
      ownPaths,
      deniedPrograms: deniedPrograms.flatMap(programPaths),
      emptyFile: folder().emptyFile,
      sessionFolder: folder().path,
    }),
    gitConfigurations: () => gitConfigurations(env, homes),
    above: () => aboveWorkspace(root, env.HOME),
    close() {
      opened?.remove();
      opened = undefined;
      ignore = undefined;
    },
  };
}

/** Where git looks for what holds in all repositories. */
function gitConfigurations(env: GroundOptions["env"], homes: readonly string[]): string[] {
  const { GIT_CONFIG_GLOBAL, GIT_CONFIG_SYSTEM = "/etc/gitconfig", XDG_CONFIG_HOME } = env;
  const ofHomes = homes.flatMap((home) => [join(home, ".gitconfig"), join(home, ".config/git/config")]);
  const named = [GIT_CONFIG_GLOBAL, GIT_CONFIG_SYSTEM, XDG_CONFIG_HOME && join(XDG_CONFIG_HOME, "git/config")];
  return [...ofHomes, ...named.filter((path) => path !== undefined && isAbsolute(path))] as string[];
}

function cacheFolder(env: GroundOptions["env"], homes: readonly string[]): string | undefined {
  const named = env.XDG_CACHE_HOME;
  if (named !== undefined && isAbsolute(named)) return join(named, "harness", "workspaces");
  const [home] = homes;
  return home === undefined ? undefined : join(home, ".cache", "harness", "workspaces");
}

/** Ignore files of the folders above the workspace, where a repository begins there, and what the person ignores everywhere. */
function aboveWorkspace(root: string, home: string | undefined): ReturnType<SessionGround["above"]> {
  const folders: string[] = [];
  for (let folder = dirname(root); folder !== folders.at(-1); folder = dirname(folder)) folders.push(folder);
  const personal = home !== undefined && isAbsolute(home) ? [join(home, ".config/git/ignore")] : [];
  const files = [...folders.flatMap((folder) => IGNORE_FILES.map((name) => join(folder, name))), ...personal];
  const entry = (path: string) => lstatSync(path, { throwIfNoEntry: false });
  return {
    ignoreFiles: files.filter((path) => entry(path)?.isFile() === true).map((path) => ({ from: path, to: path })),
    gitFolders: folders.map((folder) => join(folder, ".git")).filter((path) => entry(path) !== undefined),
  };
}
