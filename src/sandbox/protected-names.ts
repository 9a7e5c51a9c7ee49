/**
 * Names in a workspace that steer what other programs run: the harness's own files, and what shells, editors and git
 * read by themselves. A command reads them and changes none of them, whether they are there or not.
 */

export interface ProtectedName {
  /** Relative to the workspace. */
  readonly name: string;
  /**
   * What keeps the name free while nothing is there. `hold`: an empty folder stands there for the time of the command,
   * for names that something obeys as soon as they appear. `sweep`: what appears is moved aside when
   * the command has ended, so that a plain listing shows nothing strange.
   */
  readonly missing: "hold" | "sweep";
}

/** Few: each costs a folder made and removed around every command. */
const HELD = [".harness", ".vscode"];

const SWEPT = [
  "harness.md harness.yaml harness.yml .harness-secrets .mcp.json .devcontainer .devcontainer.json .fleet .idea .zed .cursor .claude .envrc",
  ".exrc .vimrc .nvimrc .nvim.lua .gvimrc .emacs .emacs.d .dir-locals.el .gdbinit .lldbinit .gitconfig",
].flatMap((line) => line.split(" "));

/** Read by shells from a home folder only. */
const SHELL_STARTUP = [
  ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout",
  ".kshrc .cshrc .tcshrc .login .inputrc .pam_environment .xprofile .xinitrc .xsession",
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
    ...names(SHELL_STARTUP, isHome ? "hold" : "sweep"),
    ...(isHome ? names(HOME_FOLDERS, "hold") : []),
  ];
}
