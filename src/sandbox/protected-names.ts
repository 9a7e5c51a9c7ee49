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
   * obeys where they are, or not before somebody has agreed to them.
   */
  readonly missing: "hold" | "sweep";
}

/** Each costs a folder made and removed around every command, and shows in a listing that the command makes. */
const HELD = [
  ".harness .vscode .idea .zed .cursor .claude .fleet .devcontainer .harness-secrets",
  ".mcp.json .devcontainer.json .envrc .exrc .vimrc .gvimrc .nvimrc .nvim.lua .dir-locals.el .gdbinit .lldbinit",
].flatMap((line) => line.split(" "));

/** In force only after an ack, and a folder by such a name would get in the way of `*.md`. */
const ACKED = ["harness.md", "harness.yaml", "harness.yml"];

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
    ...names(ACKED, "sweep"),
    ...names(STARTUP, isHome ? "hold" : "sweep"),
    ...(isHome ? names(HOME_FOLDERS, "hold") : []),
  ];
}
