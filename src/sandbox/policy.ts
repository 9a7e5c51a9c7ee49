/**
 * From a workspace and a confinement to the policy of one command: looks at the disk as it is now, changes nothing. A string instead of a
 * policy says why this workspace cannot be confined; then no command runs.
 */
import { lstatSync } from "node:fs";
import { dirname, join } from "node:path";
import { realPathIfThere } from "#world";
import { type GuardOptions, guardNames, type WatchedName } from "./guarded-names.ts";
import { type MountPin, mountPins } from "./mount-pins.ts";
import { isInside } from "./repositories.ts";
import { READER_LIMITS, WORKSPACE_LIMITS } from "./resource-limits.ts";
import type { HiddenPath, Mount, SandboxNetwork, SandboxPolicy, Scratch } from "./sandbox.ts";
import type { WorkspaceCache } from "./session-folder.ts";
import type { SystemView } from "./system-view.ts";

const MIB = 1024 ** 2;
/** In memory; the command could otherwise fill half of the machine's. */
const READER_TMP_BYTES = 64 * MIB;
const READER_HOME_BYTES = 16 * MIB;
const SMALL_BYTES = MIB;
const RUN_BYTES = 64 * 1024;

export interface PolicyOptions {
  /** The workspace, absolute and real. */
  readonly root: string;
  /** Where the command begins: absolute, in the workspace. */
  readonly cwd: string;
  /** The home folder as programs are told of it. */
  readonly home: string;
  /** What of the machine every command sees. */
  readonly system: SystemView;
  /** Toolchains of the person. */
  readonly toolchains: readonly Mount[];
  /** Other folders that git reads when it works in the workspace. */
  readonly around: readonly string[];
  /** Files and folders of this program: log, keys, configuration, what undo keeps. */
  readonly ownPaths: readonly string[];
  /** Programs that a rule denies as a whole, as real paths. */
  readonly deniedPrograms: readonly string[];
  readonly emptyFile: string;
  /** In which the session keeps what is mounted for its commands. */
  readonly sessionFolder: string;
}

export interface ReaderOptions extends PolicyOptions {
  /** Secret files, pipes and sockets of the workspace. */
  readonly masked: readonly HiddenPath[];
  /** Copies of a few settings, to stand in the home. */
  readonly settings: readonly Mount[];
}

/** What a command that nobody was asked about is held to. */
export function planReader(options: ReaderOptions): SandboxPolicy | string {
  const { root, home, settings, masked } = options;
  const base = planBase(options);
  if (typeof base === "string") return base;
  return {
    ...base,
    confinement: "reader",
    scratch: [
      { path: "/tmp", sizeBytes: READER_TMP_BYTES, mode: "1777" },
      { path: "/var/tmp", sizeBytes: SMALL_BYTES, mode: "1777" },
      { path: "/run", sizeBytes: RUN_BYTES },
      ...(isInside(root, home) ? [] : [{ path: home, sizeBytes: READER_HOME_BYTES, mode: "0700" }]),
    ],
    placed: [...base.placed, ...settings, { from: root, to: root }],
    writable: [],
    pinned: [],
    readOnly: [],
    replaced: [],
    held: [],
    hidden: withoutInner([...base.hidden, ...masked]),
    network: { kind: "none" },
    unixSockets: false,
    limits: READER_LIMITS,
    env: {
      HOME: home,
      TMPDIR: "/tmp",
      XDG_CACHE_HOME: "/tmp/.cache",
      npm_config_cache: "/tmp/.cache/npm",
      PYTHONDONTWRITEBYTECODE: "1",
    },
  };
}

/** Where a server finds the folder that it keeps from one session to the next. */
const SERVER_HOME = "/run/harness/home";

export interface ServerOptions extends ReaderOptions, Pick<WorkspaceOptions, "network" | "unixSockets"> {
  readonly state: string;
  readonly files: readonly Mount[];
}

/** What an MCP server is held to that may not change the workspace: it sees what a reader sees. */
export function planServer(options: ServerOptions): SandboxPolicy | string {
  const { network, unixSockets, state, files } = options;
  const policy = planReader(options);
  if (typeof policy === "string") return policy;
  return {
    ...policy,
    network,
    unixSockets,
    limits: WORKSPACE_LIMITS,
    placed: [...policy.placed, ...files],
    scratch: [...policy.scratch, { path: SERVER_HOME, from: state }],
    env: { ...policy.env, HOME: SERVER_HOME },
  };
}

/** The same for one call that may change these folders of the workspace: steering files in them are held as for a command. */
export function planWritingServer(
  options: ServerOptions & GuardOptions & { readonly folders: readonly string[] },
): PlannedWorkspace | string {
  const { root, folders, files } = options;
  const policy = planServer(options);
  if (typeof policy === "string") return policy;
  const guarded = guardNames(options, policy.hidden);
  const isWritable = (path: string): boolean => folders.some((folder) => isInside(folder, path));
  return {
    pins: [],
    policy: {
      ...policy,
      confinement: "workspace",
      writable: folders,
      pinned: guarded.pinned.filter(isWritable),
      readOnly: guarded.readOnly.filter(isWritable),
      // What the reader shows of them would be covered by the writable folders.
      replaced: files.filter(({ to }) => isInside(root, to)),
      held: guarded.held.filter(({ path }) => isWritable(path)),
    },
    watched: guarded.watched.filter(({ path }) => isWritable(path)),
  };
}

/** The sandbox has its own: the machine's would cover them, with all of its processes, devices and sockets. */
const MADE_INSIDE = ["/proc", "/dev", "/sys", "/run"];

/**
 * Why a server cannot be shown these folders; undefined when it can. Files of this program below them are hidden, but for the packages
 * that it has installed for servers.
 */
export function unfitPath(paths: readonly string[], ownPaths: readonly string[], packages: string): string | undefined {
  for (const path of paths) {
    if (realPathIfThere(path) === undefined) return `'paths' names ${path}, which does not exist`;
    if (path !== packages && isInside(packages, path)) continue;
    if (existing(ownPaths).some((own) => isInside(own.path, path))) {
      return `'paths' names ${path}, which belongs to the files of this program`;
    }
    if (path === "/" || MADE_INSIDE.some((folder) => isInside(folder, path))) {
      return `'paths' names ${path}, which cannot be shown to a server; name the folders that it needs`;
    }
  }
  return undefined;
}

export interface WorkspaceOptions extends PolicyOptions, GuardOptions {
  /** Folders of the session: its scratch files, and its home. */
  readonly tmp: string;
  readonly privateHome: string;
  /** Copies of settings, as they stand in the home. */
  readonly settings: readonly Mount[];
  /** What git ignores because of placeholders. */
  readonly ignored: readonly Mount[];
  /** Folders of the home that stand in for those of toolchains. */
  readonly shims: readonly Scratch[];
  /** Kept for the next session in the same workspace. */
  readonly cache: WorkspaceCache;
  readonly network: SandboxNetwork;
  readonly unixSockets: boolean;
  /** Pipes and sockets that the command must not reach. */
  readonly masked: readonly HiddenPath[];
}

export interface PlannedWorkspace {
  readonly policy: SandboxPolicy;
  /** To be made before the command. */
  readonly pins: readonly MountPin[];
  readonly watched: readonly WatchedName[];
}

/** What a command is held to that a rule or a person allowed. */
export function planWorkspace(options: WorkspaceOptions): PlannedWorkspace | string {
  const { root, home, tmp, privateHome, settings, shims, cache, network, unixSockets, masked } = options;
  const base = planBase(options);
  if (typeof base === "string") return base;
  const guarded = guardNames(options, base.hidden);
  const homeScratch: Scratch[] = isInside(root, home)
    ? []
    : [
        { path: home, from: privateHome },
        { path: join(home, ".cache"), from: cache.general },
        // Maven takes the folder from no variable that all its versions know.
        { path: join(home, ".m2"), from: cache.maven },
        ...shims,
      ];
  const scratch: Scratch[] = [
    { path: "/tmp", from: tmp },
    { path: "/var/tmp", from: tmp },
    { path: "/run", sizeBytes: RUN_BYTES },
    ...homeScratch,
  ];
  // Cargo looks for its settings in its own folder, which is a cache here, and in every folder above the one where it begins.
  const cargoSettings = settings
    .filter(({ to }) => to === join(home, ".cargo/config.toml"))
    .map(({ from }) => ({ from, to: "/.cargo/config.toml" }));
  const placed = [...base.placed, ...cargoSettings, ...options.ignored];
  const writable = [root, ...guarded.writable];
  const pins = mountPins(scratch, placed, writable);
  return {
    pins,
    policy: {
      ...base,
      confinement: "workspace",
      scratch: [...scratch, ...pins],
      placed,
      writable,
      pinned: guarded.pinned,
      readOnly: guarded.readOnly,
      replaced: [],
      held: guarded.held,
      hidden: withoutInner([...base.hidden, ...masked]),
      network,
      unixSockets,
      limits: WORKSPACE_LIMITS,
      env: {
        HOME: home,
        TMPDIR: "/tmp",
        ...cacheVariables(isInside(root, home) ? "/tmp/.cache" : join(home, ".cache")),
      },
    },
    watched: guarded.watched,
  };
}

/** Programs that keep their caches elsewhere than the others. */
function cacheVariables(cache: string): Record<string, string> {
  return {
    XDG_CACHE_HOME: cache,
    npm_config_cache: `${cache}/npm`,
    CARGO_HOME: `${cache}/cargo`,
    GOMODCACHE: `${cache}/go-mod`,
    GRADLE_USER_HOME: `${cache}/gradle`,
  };
}

/** The search of this program: it sees the workspace and itself. */
export function planSearch(
  options: Pick<ReaderOptions, "root" | "cwd" | "ownPaths" | "masked" | "emptyFile"> & {
    readonly program: Mount;
    /** Ignore files above the workspace and of the person. */
    readonly ignoreFiles: readonly Mount[];
    /** Shown as empty folders. */
    readonly gitFolders: readonly string[];
  },
): SandboxPolicy {
  const { root, program, ignoreFiles, gitFolders, ownPaths } = options;
  return {
    confinement: "reader",
    root,
    cwd: options.cwd,
    gated: false,
    shown: [],
    links: [],
    kernel: [],
    scratch: gitFolders.map((path) => ({ path, sizeBytes: RUN_BYTES, mode: "0755" })),
    placed: [...ignoreFiles, { from: root, to: root }, program],
    writable: [],
    pinned: [],
    readOnly: [],
    replaced: [],
    held: [],
    hidden: withoutInner([...existing(ownPaths).filter(({ path }) => isInside(root, path)), ...options.masked]),
    emptyFile: options.emptyFile,
    network: { kind: "none" },
    unixSockets: false,
    limits: READER_LIMITS,
    env: {},
  };
}

type BasePolicy = Pick<
  SandboxPolicy,
  "root" | "cwd" | "gated" | "shown" | "links" | "kernel" | "placed" | "hidden" | "emptyFile"
>;

function planBase(options: PolicyOptions): BasePolicy | string {
  const { root, system, toolchains, around, ownPaths, deniedPrograms, emptyFile } = options;
  const own = existing(ownPaths);
  const above = own.find(({ path }) => isInside(path, root));
  if (above !== undefined) return `the workspace is inside ${above.path}, which contains files of Harness`;
  if (root === "/") return "the workspace is the whole file system";
  // A command could put a link in the place of what is mounted for the next one.
  const { sessionFolder } = options;
  if (isInside(root, sessionFolder)) {
    return `the workspace contains ${dirname(sessionFolder)}, where sessions keep temporary folders for commands; set TMPDIR to a folder outside the workspace`;
  }
  const covered = system.shown.find(({ to }) => to !== "/etc" && isInside(root, to) && root !== to);
  if (covered !== undefined) return `the workspace contains ${covered.to}, which belongs to the system`;
  const seen = [root, ...[...system.shown, ...toolchains].map(({ to }) => to), ...around];
  const programs = deniedPrograms.map((path) => ({ path, kind: "file" as const }));
  const hidden = [...system.hidden, ...own, ...programs].filter(({ path }) => seen.some((to) => isInside(to, path)));
  return {
    root,
    cwd: options.cwd,
    gated: true,
    shown: system.shown,
    links: system.links,
    kernel: system.kernel,
    placed: [...toolchains, ...around.map((path) => ({ from: path, to: path }))],
    hidden,
    emptyFile,
  };
}

function existing(paths: readonly string[]): HiddenPath[] {
  return paths.flatMap((path) => {
    const real = realPathIfThere(path);
    const info = real === undefined ? undefined : lstatSync(real, { throwIfNoEntry: false });
    return real === undefined || info === undefined
      ? []
      : [{ path: real, kind: info.isDirectory() ? ("directory" as const) : ("file" as const) }];
  });
}

/** What lies below a hidden folder is gone with it, and could not be mounted over. */
function withoutInner(hidden: readonly HiddenPath[]): HiddenPath[] {
  const all = new Map(hidden.map((one) => [one.path, one]));
  return [...all.values()].filter(({ path }) => {
    for (let above = dirname(path); above !== dirname(above); above = dirname(above)) {
      if (all.get(above)?.kind === "directory") return false;
    }
    return true;
  });
}
