/**
 * Secret files that a call would read although no rule names them: a rule that allows reading in general was written with ordinary
 * files in mind. Says nothing about calls that no rule allows.
 */

import { argvPattern, matchArgv } from "./argv-patterns.ts";
import type { DiskView } from "./disk-view.ts";
import { isModeAlone } from "./edit-mode.ts";
import { touchedFiles } from "./file-rules.ts";
import { kindOf, pathArguments, textsOf } from "./known-tools.ts";
import { inFolder } from "./on-disk.ts";
import { matchPath } from "./rule-patterns.ts";
import { namesKind, type Rule, type RuleCall, type RuleMatch, subjectsOf } from "./rules.ts";
import { isSensitiveGlob, isSensitivePath, workspaceRelative } from "./sensitive-paths.ts";
import { analyseShell } from "./shell/analysis.ts";
import { everyCommand, type SimpleCommand } from "./shell/command.ts";
import { hasGlob } from "./wildcard.ts";

/** How a decision about secret files names its rule. */
const SECRET_RULE = "built-in: secret-files";

/** Words of one command that are looked up. */
const MAX_FILES = 200;

/**
 * Why a call of a file tool that rules allow asks all the same; undefined when a rule names each secret file in it. What only the mode
 * `accept-edits` allows asks before it replaces one, too.
 */
export function unnamedSecret(call: RuleCall, matches: readonly RuleMatch[], root: string): string | undefined {
  for (const path of isModeAlone(matches) ? subjectsOf(call) : revealedPaths(call)) {
    const relative = workspaceRelative(root, path) ?? path;
    const isPattern = kindOf(call.tool) === "search" && hasGlob(path);
    const found = isPattern ? isSensitiveGlob(relative, "search") : isSensitivePath(relative);
    if (!found.sensitive || !found.secret) continue;
    if (!matches.some(({ rule, matched }) => matched === path && namesOneFile(rule))) return describe(path, found.why);
  }
  return undefined;
}

function revealedPaths(call: RuleCall): readonly string[] {
  const paths = pathArguments(call.tool);
  const revealed = paths.filter(({ reveals }) => reveals);
  if (revealed.length > 0 && revealed.length === paths.length) return subjectsOf(call);
  const names = revealed.map(({ name }) => name);
  return textsOf(names, call.args);
}

/** The same for a shell command, as far as its words say which files it reads. */
export async function unnamedSecretOfCommand(
  command: string,
  { rules, disk, cwd }: { readonly rules: readonly Rule[]; readonly disk: DiskView; readonly cwd: string },
): Promise<string | undefined> {
  const naming = rules.filter(namesOneFile);
  const isNamed = (simple: SimpleCommand, word: string, path: string): boolean =>
    naming.some((rule) => {
      const { pattern = "" } = rule;
      if (namesKind(rule, "read")) return matchPath(pattern, path, "narrow", disk.root);
      const words = namesKind(rule, "command") ? argvPattern(pattern) : [];
      return words.includes(word) && matchArgv(words, simple, "narrow") === "yes";
    });
  let looked = 0;
  for (const simple of everyCommand(analyseShell(command).commands)) {
    const words = touchedFiles(simple).filter(({ access, certain }) => access === "reads" && certain);
    for (const folder of simple.folders) {
      for (const { path: word } of words) {
        looked += 1;
        if (looked > MAX_FILES) return `it names too many files to check them all for secrets (${SECRET_RULE})`;
        const written = inFolder(inFolder(cwd, folder), word);
        const path = (await disk.locate(written)) ?? written;
        const found = [path, written].map(isSensitivePath).find((one) => one.sensitive && one.secret);
        if (found?.sensitive === true && !isNamed(simple, word, path)) return describe(path, found.why);
      }
    }
  }
  return undefined;
}

/** An allow rule whose pattern spells the name of the file. */
function namesOneFile({ effect, pattern }: Rule): boolean {
  return effect === "allow" && pattern !== undefined && !hasGlob(pattern.slice(pattern.lastIndexOf("/") + 1));
}

function describe(path: string, why: string): string {
  return `${path} is sensitive (${why}), and no rule names it (${SECRET_RULE})`;
}
