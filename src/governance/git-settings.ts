/**
 * Commands of git that write its configuration, which the sandbox holds: recognised so that a person is asked before they fail. What is
 * not recognised fails with git's own message; nothing is allowed by this list.
 */
import type { JudgedCall } from "./judge.ts";
import { isCommand } from "./known-tools.ts";
import { analyseShell } from "./shell/analysis.ts";
import { everyCommand, type SimpleCommand } from "./shell/command.ts";
import { programName } from "./shell/wrappers.ts";

/** Options of git itself that take the next word. */
const WITH_VALUE = new Set(["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path"]);
const READS_CONFIG = new Set(["--get", "--get-all", "--get-regexp", "--get-urlmatch", "--list", "-l", "get", "list"]);
const WRITES_CONFIG =
  /^(?:--(?:add|unset|unset-all|replace-all|rename-section|remove-section|edit)|-e|edit|set|unset)$/;
const READS_REMOTE = new Set(["show", "get-url", "prune", "update", "-v", "--verbose"]);
const UPSTREAM = /^(?:-u.*|--set-upstream(?:-to)?(?:=.*)?|--unset-upstream|--track(?:=.*)?|-t)$/;

/** How the command would be called, such as `git remote add`; undefined when it writes no configuration as far as can be seen. */
export function changesGitSettings({ tool, args }: JudgedCall): string | undefined {
  if (!isCommand(tool.name) || typeof args.command !== "string") return undefined;
  for (const command of everyCommand(analyseShell(args.command).commands)) {
    const found = ofCommand(command);
    if (found !== undefined) return found;
  }
  return undefined;
}

function ofCommand({ words }: SimpleCommand): string | undefined {
  if (programName(words) !== "git") return undefined;
  let at = 1;
  while (words[at]?.startsWith("-")) at += WITH_VALUE.has(words[at] ?? "") ? 2 : 1;
  const [subcommand = "", ...rest] = words.slice(at);
  const [verb = ""] = rest;
  switch (subcommand) {
    case "config":
      return readsConfig(rest) || isGlobal(rest) ? undefined : "git config";
    case "remote":
      return rest.length === 0 || READS_REMOTE.has(verb) ? undefined : `git remote ${verb}`;
    case "submodule":
      return rest.length === 0 || ["status", "summary", "foreach"].includes(verb) ? undefined : `git submodule ${verb}`;
    case "sparse-checkout":
      return verb === "list" ? undefined : `git sparse-checkout ${verb}`;
    case "branch":
    case "push":
      return rest.some((word) => UPSTREAM.test(word))
        ? `git ${subcommand} ${rest.find((word) => UPSTREAM.test(word))}`
        : undefined;
    case "lfs":
      return verb === "install" ? "git lfs install" : undefined;
    default:
      return undefined;
  }
}

/** `git config NAME` prints a value, `git config NAME VALUE` sets it. */
function readsConfig(words: readonly string[]): boolean {
  if (words.some((word) => WRITES_CONFIG.test(word))) return false;
  return words.some((word) => READS_CONFIG.has(word)) || words.filter((word) => !word.startsWith("-")).length <= 1;
}

/** The configuration of the person, of which a command has a copy of its own. */
function isGlobal(words: readonly string[]): boolean {
  return words.includes("--global") || words.includes("--system");
}
