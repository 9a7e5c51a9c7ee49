/** Which commands reach the network, by the names of their programs. Tells people what they decide on; nothing is allowed by it. */
import { wordSet } from "#base";
import { analyseShell } from "./shell/analysis.ts";
import { everyCommand } from "./shell/command.ts";
import { programName } from "./shell/wrappers.ts";

/** They reach out whatever their arguments are. */
const FETCHING_PROGRAMS: ReadonlySet<string> = wordSet(
  "curl wget http https xh aria2c axel lynx w3m links elinks ftp sftp scp ssh rsync nc ncat netcat socat telnet gh glab " +
    "hub svn aws gcloud az kubectl yt-dlp",
);
const FETCHING_GIT = new Set(["fetch", "pull", "clone", "ls-remote", "remote", "submodule"]);

/** Those that send as well: by program, the words that make it reach out. */
const SENDING_WORDS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    git: "push send-email request-pull",
    npm: "publish unpublish deprecate dist-tag install i ci add update login",
    pnpm: "publish install i add update dlx",
    yarn: "publish npm install add up dlx",
    bun: "publish install i add update",
    pip: "install download",
    pip3: "install download",
    uv: "publish add sync pip",
    poetry: "publish install add update",
    twine: "upload",
    cargo: "publish yank install fetch update",
    go: "get install mod",
    gem: "push install",
    docker: "push pull login build run",
    podman: "push pull login build run",
    helm: "push pull install upgrade",
    terraform: "apply destroy init",
    apt: "install update upgrade",
    "apt-get": "install update upgrade",
    brew: "install update upgrade",
  }).map(([program, words]) => [program, wordSet(words)]),
);

/** Whether a command brings content in from elsewhere; one that is not understood may. */
export function bringsContentIn(command: string): boolean {
  return someCommand(
    command,
    (name, words) => FETCHING_PROGRAMS.has(name) || (name === "git" && words.some((word) => FETCHING_GIT.has(word))),
  );
}

/** Whether a command has an effect on the network, in either direction; one that is not understood may. */
export function reachesNetwork(command: string): boolean {
  return (
    bringsContentIn(command) ||
    someCommand(command, (name, words) => words.some((word) => SENDING_WORDS.get(name)?.has(word)))
  );
}

function someCommand(command: string, test: (name: string, words: readonly string[]) => boolean): boolean {
  const analysis = analyseShell(command);
  if (!analysis.understood) return true;
  for (const { words } of everyCommand(analysis.commands)) if (test(programName(words), words.slice(1))) return true;
  return false;
}
