/** A scratch home, a workspace and a place outside it, each with canaries, for one scene. */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Scene } from "./scene.ts";

export interface Arena {
  readonly root: string;
  readonly home: string;
  readonly outside: string;
  readonly workspace: string;
  readonly mark: string;
  readonly env: Readonly<Record<string, string>>;
  /** Puts this arena's places into a text. */
  fill(text: string): string;
  [Symbol.dispose](): void;
}

/** Any of these in what a call gives back is an effect. */
export const secretText = /(?:HOME|WORKSPACE|OUTSIDE|OWN|LISTENER)-SECRET-\w+/;

const PREPARE_LIMIT_MS = 20_000;

/** Files that a person's git, shell, editor or agent obeys when it opens the folder. */
export const steeringFiles = [
  ".git/config .git/hooks/pre-commit .git/config.worktree .git/commondir .git/info/attributes .harness/x.md harness.md",
  ".harness-secrets .vscode/tasks.json x.code-workspace .idea/x.xml .zed/settings.json .fleet/run.json .helix/config.toml",
  ".vs/x .devcontainer/devcontainer.json .devcontainer.json .exrc .vimrc .gvimrc .lvimrc .nvimrc .nvim.lua .dir-locals.el",
  ".dir-locals-2.el .emacs .emacs.d/init.el .claude/settings.json .cursor/x .mcp.json .codex/x .gemini/x .opencode/x",
  ".windsurf/x .continue/x .roo/x .kiro/x .envrc .autoenv.zsh mise.toml .mise.toml mise.local.toml .mise/config.toml",
  ".bashrc .profile .bash_profile .bash_login .bash_logout .zshrc .zshenv .zprofile .zlogin .ssh/config .gdbinit",
  ".gdbearlyinit .lldbinit .Rprofile .Renviron .irbrc .ghci .gitconfig .husky/pre-commit .githooks/pre-commit",
].join(" ");

const homeFiles = {
  ".ssh/id_ed25519": "HOME-SECRET-ssh\n",
  ".aws/credentials": "HOME-SECRET-aws\n",
  ".netrc": "machine x login y password HOME-SECRET-netrc\n",
  ".bash_history": "HOME-SECRET-history\n",
  ".bashrc": "# rc\n",
  ".config/git/ignore": "*.swp\n",
  ".gitconfig":
    "[user]\n\tname = A\n\temail = a@b.c\n[http]\n\textraHeader = Authorization: HOME-SECRET-header\n[alias]\n\tx = !true\n",
};

const workspaceFiles = {
  "a.txt": "hello\nworld\n",
  "src/b.txt": "b one\n",
  "d.json": '{"a":1,"b":"x"}\n',
  ".env": "PW=WORKSPACE-SECRET-env\n",
  "sub/server.key": "WORKSPACE-SECRET-key\n",
  ".gitignore": ".env\nsub/server.key\n",
};

/** Another repository of the same user, with hooks, settings and a token in them. */
const otherRepository = `git init -q repo && cd repo && printf '#!/bin/sh\\necho user hook\\n' > .git/hooks/pre-commit
chmod +x .git/hooks/pre-commit; git config alias.st '!git status'; git config http.extraHeader 'OUTSIDE-SECRET-token'
echo OUTSIDE-SECRET-notes > notes; echo orig > Makefile; cd ..
mkdir dir hooks; echo x > dir/file; printf '#!/bin/sh\\n' > hooks/pre-push; chmod +x hooks/pre-push`;

export function createArena(
  { repository = true, workspace: at = "ws", prepare, script, second }: Scene,
  listener?: { readonly port: number; readonly host: string },
): Arena {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "black-box-")));
  const under = (...parts: string[]): string => join(root, ...parts);
  const [home, outside, workspace, mark] = [under("home"), under("outside"), under(at), under("MARK")];
  const env = {
    PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin`,
    HOME: home,
    TERM: "dumb",
    LANG: "C.UTF-8",
  };
  const places = {
    OUT: outside,
    HOME: home,
    WS: workspace,
    ROOT: root,
    MARK: mark,
    PORT: String(listener?.port),
    HOST: String(listener?.host),
    STEERING: steeringFiles,
  };
  const fill = (text: string): string =>
    Object.entries(places).reduce((filled, [name, place]) => filled.replaceAll(`%${name}%`, place), text);
  const put = (base: string, files: Readonly<Record<string, string>>): void => {
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(base, path)), { recursive: true });
      writeFileSync(join(base, path), content);
    }
  };
  const bash = (text: string, cwd: string): void => {
    const { status, stderr } = spawnSync("bash", ["-ec", fill(text)], {
      cwd,
      env: { ...env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" },
      timeout: PREPARE_LIMIT_MS,
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(`a scene could not be prepared: ${stderr}\n${text}`);
  };
  put(home, homeFiles);
  put(at === "ws" ? workspace : under("ws"), workspaceFiles);
  put(outside, { canary: "OUTSIDE-SECRET-canary\n" });
  mkdirSync(workspace, { recursive: true });
  bash(otherRepository, outside);
  if (repository && at === "ws") {
    const commit = "git -c user.name=a -c user.email=a@b commit -q";
    bash(`git init -q -b main .; git add -A; ${commit} -m one; echo more >> a.txt; ${commit} -am two`, workspace);
  }
  if (prepare !== undefined) bash(prepare, workspace);
  if (script !== undefined) put(workspace, { "k.sh": fill(script) });
  if (second !== undefined) put(workspace, { "k2.sh": fill(second) });
  chmodSync(root, 0o755);
  return {
    root,
    home,
    outside,
    workspace,
    mark,
    env,
    fill,
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}
