/**
 * Steering files: what git, shells, editors, direnv and this program obey without being told to. One list for the file tools and for
 * the sandbox. Judges names alone and looks at no disk; build files and CI files are ordinary, because somebody has to start them.
 */
import { foldedSegments } from "./path-segments.ts";

export interface ProtectedName {
  /** Relative to the workspace, as programs look for it. */
  readonly name: string;
  /**
   * What keeps the name free while nothing is there. `hold`: an empty folder stands there while a command runs, so that the kernel
   * refuses. `sweep`: what appears is moved aside when the command has ended; for names that nothing obeys before a person starts a
   * program there or agrees to them.
   */
  readonly missing: "hold" | "sweep";
}

/** Names with something in the middle that anybody can choose. What appears is moved aside when a command has ended. */
export interface ProtectedPattern {
  /** With one `*`, which stays in the last part. */
  readonly glob: string;
  /** Relative to the workspace; empty for the workspace itself. */
  readonly folder: string;
  /** One name in that folder. */
  matches(name: string): boolean;
}

interface NameGroup {
  /** One with `*` in it is a pattern. */
  readonly names: readonly string[];
  readonly missing: ProtectedName["missing"];
  /** Completes "FILE is …". */
  readonly why: string;
}

const OWN = "configuration of this program";
const EDITOR = "configuration of an editor, which can run programs";
const AGENT = "configuration of another agent, which can run programs";
const FOLDER = "obeyed by shells that enter the folder";
const DEBUGGER = "obeyed by debuggers that start in the folder";
const STARTUP = "a start-up file of shells or desktops";

/** A held name shows in every listing that a command makes, so `hold` is for what a running program obeys as soon as it appears. */
const GROUPS: readonly NameGroup[] = [
  group(OWN, "hold", ".harness"),
  group(OWN, "sweep", "harness.md harness.yaml harness.yml .harness-secrets"),
  group(
    EDITOR,
    "hold",
    ".vscode .idea .zed .fleet .exrc .vimrc .gvimrc .nvimrc .nvim.lua .dir-locals.el .devcontainer",
  ),
  group(EDITOR, "sweep", ".devcontainer.json .dir-locals-2.el .lvimrc .helix .vs .emacs .emacs.d *.code-workspace"),
  group(AGENT, "hold", ".cursor .claude .mcp.json"),
  group(AGENT, "sweep", ".codex .gemini .opencode .windsurf .continue .roo .kiro"),
  group(FOLDER, "hold", ".envrc"),
  group(FOLDER, "sweep", ".autoenv.zsh mise.toml .mise.toml mise.*.toml .mise.*.toml .mise .config/mise"),
  group(FOLDER, "sweep", ".config/mise.toml .config/mise.*.toml mise/config.toml mise/config.*.toml"),
  group(DEBUGGER, "hold", ".gdbinit .lldbinit"),
  group(DEBUGGER, "sweep", ".gdbearlyinit"),
  group(STARTUP, "sweep", ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .inputrc .login"),
  group(STARTUP, "sweep", ".zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .cshrc .tcshrc .pam_environment"),
  group(STARTUP, "sweep", ".xprofile .xinitrc .xsession"),
  group("obeyed by R, irb and ghci when they start in the folder", "sweep", ".Rprofile .Renviron .irbrc .ghci"),
  group("git configuration, which can run programs", "sweep", ".gitconfig"),
  group("a folder of git hooks by convention", "sweep", ".husky .githooks"),
  group("SSH configuration, which can run programs", "sweep", ".ssh"),
];

/** What a command in the sandbox reads and must not change, besides git's own files. */
export function protectedNames(): readonly ProtectedName[] {
  return GROUPS.flatMap(({ names, missing }) =>
    names.filter((name) => !name.includes("*")).map((name): ProtectedName => ({ name, missing })),
  );
}

export function protectedPatterns(): readonly ProtectedPattern[] {
  const globs = GROUPS.flatMap(({ names }) => names.filter((name) => name.includes("*")));
  return globs.map((glob) => {
    const slash = glob.lastIndexOf("/");
    return { glob, folder: glob.slice(0, Math.max(0, slash)), matches: matcher(glob.slice(slash + 1)) };
  });
}

const WHY_BY_NAME: ReadonlyMap<string, string> = new Map(
  GROUPS.flatMap(({ names, why }) => names.map((name) => [foldedSegments(name).join("/"), why] as const)),
);
const WHY_BY_PATTERN = [...WHY_BY_NAME]
  .filter(([name]) => name.includes("*"))
  .map(([glob, why]) => ({ parts: glob.split("/").map(matcher), why }));
const MOST_PARTS = Math.max(...[...WHY_BY_NAME.keys()].map((name) => name.split("/").length));

/** The files of a git folder that make git run programs or look elsewhere for its configuration. */
const GIT_NAMES: ReadonlyMap<string, string> = new Map([
  ["config", "git configuration, which can run programs"],
  ["config.worktree", "git configuration, which can run programs"],
  ["hooks", "a git hook, which git runs"],
  ["commondir", "where git looks for its configuration and hooks"],
  ["attributes", "git attributes, which choose the programs that git runs"],
]);

export interface Steering {
  /** Completes "FILE is …". */
  readonly why: string;
}

/**
 * Why a change of this file needs a person; undefined for an ordinary file. `relativePath` is relative to the workspace root. A name
 * counts in every folder and in every case of its letters, and so does all that is below it.
 */
export function steeringFile(relativePath: string): Steering | undefined {
  const segments = foldedSegments(relativePath);
  for (const [index, segment] of segments.entries()) {
    const why = namedWhy(segments.slice(index, index + MOST_PARTS)) ?? gitSteering(segment, segments.slice(index + 1));
    if (why !== undefined) return { why };
  }
  return segments.at(-1) === "head" ? { why: "a file that makes its folder a git repository" } : undefined;
}

/** `parts` begin with the name that is looked for, which can be several of them. */
function namedWhy(parts: readonly string[]): string | undefined {
  const names = parts.map((_, index) => parts.slice(0, index + 1).join("/"));
  const named = names.map((name) => WHY_BY_NAME.get(name)).find((why) => why !== undefined);
  return named ?? WHY_BY_PATTERN.find((one) => one.parts.every((matches, index) => matches(parts[index] ?? "")))?.why;
}

/** For one part of a path with at most one `*` in it. */
function matcher(glob: string): (name: string) => boolean {
  const [start = "", end] = glob.split("*");
  if (end === undefined) return (name) => name === start;
  return (name) => name.length >= start.length + end.length && name.startsWith(start) && name.endsWith(end);
}

/** Git writes its own folder all the time, but a file tool has no business there: all of it counts. */
function gitSteering(segment: string, below: readonly string[]): string | undefined {
  const isGitFolder = segment === ".git";
  // A bare repository; a plain folder that is called like one has ordinary names in it.
  if (!isGitFolder && !segment.endsWith(".git")) return undefined;
  const named = below.map((name) => GIT_NAMES.get(name)).find((why) => why !== undefined);
  if (named !== undefined || !isGitFolder) return named;
  return below.length === 0 ? "a git repository, or the way to one" : "one of git's own files";
}

function group(why: string, missing: ProtectedName["missing"], names: string): NameGroup {
  return { why, missing, names: names.split(" ") };
}
