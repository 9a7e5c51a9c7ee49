/**
 * Names in a workspace that steer what other programs run: the harness's own files, and what shells, editors and git
 * read by themselves. A command reads them and changes none of them, whether they are there or not.
 */

export interface ProtectedName {
  /** Relative to the workspace. */
  readonly name: string;
  /**
   * What keeps the name free while nothing is there. `hold`: an empty folder stands there for the time of the command, so
   * that the kernel refuses. `sweep`: what appears is moved aside when the command has ended; for names that nothing
   * obeys before a person starts a program there or agrees to them.
   */
  readonly missing: "hold" | "sweep";
}

/** Folders that a running program obeys as soon as they appear. Few: each shows in every listing that a command makes. */
const HELD = [
  ".harness .vscode .idea .zed .cursor .claude .fleet .devcontainer .envrc .mcp.json",
  ".exrc .vimrc .gvimrc .nvimrc .nvim.lua .dir-locals.el .gdbinit .lldbinit",
].flatMap((line) => line.split(" "));

/** Obeyed by the harness after an ack only, or by nothing before somebody opens a container. */
const SWEPT = ["harness.md", "harness.yaml", "harness.yml", ".harness-secrets", ".devcontainer.json"];

/** Read from a home folder only. */
const STARTUP = [
  ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout",
  ".kshrc .cshrc .tcshrc .login .inputrc .pam_environment .xprofile .xinitrc .xsession .gitconfig .emacs .emacs.d",
].flatMap((line) => line.split(" "));

/** Only where the workspace is somebody's home folder. */
const HOME_FOLDERS = [".ssh", ".gnupg", ".config", ".local"];

/** `isHome`: the workspace is the home folder itself. */
export function protectedNames(isHome: boolean): readonly ProtectedName[] {
  const names = (list: readonly string[], missing: ProtectedName["missing"]) =>
    list.map((name): ProtectedName => ({ name, missing }));
  return [
    ...names(HELD, "hold"),
    ...names(SWEPT, "sweep"),
    ...names(STARTUP, isHome ? "hold" : "sweep"),
    ...(isHome ? names(HOME_FOLDERS, "hold") : []),
  ];
}
