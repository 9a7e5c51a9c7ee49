/**
 * What rules about files say of a shell command. `deny Read(.env)` is about the file, so it also holds for `cat .env`: an
 * operand or redirect that leads to such a file is refused, and what reads whole folders with such a file in them asks.
 * Sees only what can be read off a command; a program that opens files on its own is the sandbox's business.
 */
import type { ToolKind } from "#tools";
import type { DiskView } from "./disk-view.ts";
import { feedsOf, feedWalk, inFolder, walkFolders, walkTracked } from "./on-disk.ts";
import { matchPath } from "./rule-patterns.ts";
import { namesKind, type Rule } from "./rules.ts";
import { analyseShell } from "./shell/analysis.ts";
import { everyCommand, type SimpleCommand } from "./shell/command.ts";
import { FILE_READERS, FILE_WRITERS, TEXT_ONLY, TREE_READERS } from "./shell/file-tables.ts";
import { isInterpreter, programName } from "./shell/wrappers.ts";
import { globsMeet, hasGlob } from "./wildcard.ts";

export interface FileRuleVerdict {
  readonly effect: "deny" | "ask";
  /** The rule it comes from; a doubt names it too. */
  readonly rule: Rule;
  readonly why: string;
}

export interface FileRuleContext {
  readonly rules: readonly Rule[];
  readonly disk: DiskView;
  /** Where the command starts, relative to the workspace root. */
  readonly cwd?: string;
}

type Access = "reads" | "writes";

/** Steps that matching the words of one command against all patterns may take, up to a factor. */
const MAX_FILE_WORK = 2_000_000;

/** The kinds of tools of which a rule must name one to be about reading or writing. */
const KINDS_OF: Readonly<Record<Access, readonly ToolKind[]>> = { reads: ["read", "search"], writes: ["change"] };

/** The strictest thing that a deny or ask rule about files says of the command; undefined when none has a say. */
export async function judgeFileRules(command: string, context: FileRuleContext): Promise<FileRuleVerdict | undefined> {
  const strict = strictRules(context);
  const [some] = [...strict.reads, ...strict.writes];
  if (some === undefined) return undefined;
  const analysis = analyseShell(command);
  let doubt: FileRuleVerdict | undefined;
  const patternChars = [...strict.reads, ...strict.writes].reduce((sum, { pattern = "" }) => sum + pattern.length, 0);
  let work = MAX_FILE_WORK;
  for (const simple of everyCommand(analysis.commands)) {
    work -= patternChars * simple.folders.length * simple.words.reduce((sum, word) => sum + word.length + 1, 0);
    if (work < 0) return { effect: "ask", rule: some, why: `it is too long to compare with ${describe(some)}` };
    for (const folder of simple.folders) {
      const verdict = await judgeCommand(simple, inFolder(context.cwd ?? ".", folder), strict, context.disk);
      if (verdict?.effect === "deny") return verdict;
      doubt ??= verdict;
    }
  }
  if (doubt !== undefined || analysis.understood) return doubt;
  return {
    effect: "ask",
    rule: some,
    why: `Harness does not understand the command (${analysis.why}), and ${describe(some)} may apply`,
  };
}

/** By list of rules, which nobody changes once it is made. */
const strictOf = new WeakMap<readonly Rule[], Readonly<Record<Access, readonly Rule[]>>>();

function strictRules(context: FileRuleContext): Readonly<Record<Access, readonly Rule[]>> {
  const known = strictOf.get(context.rules);
  if (known !== undefined) return known;
  const made = { reads: rulesAbout("reads", context), writes: rulesAbout("writes", context) };
  strictOf.set(context.rules, made);
  return made;
}

/** Deny and ask rules with a pattern; one without is about the tool, not about files. */
function rulesAbout(access: Access, { rules }: FileRuleContext): readonly Rule[] {
  return rules.filter(
    (rule) => rule.effect !== "allow" && rule.pattern !== undefined && namesKind(rule, ...KINDS_OF[access]),
  );
}

async function judgeCommand(
  simple: SimpleCommand,
  folder: string,
  strict: Readonly<Record<Access, readonly Rule[]>>,
  disk: DiskView,
): Promise<FileRuleVerdict | undefined> {
  let doubt: FileRuleVerdict | undefined;
  for (const { path, access, certain } of touchedFiles(simple)) {
    for (const rule of strict[access]) {
      if (!(await leadsTo(inFolder(folder, path), rule, disk))) continue;
      const why = `${programName(simple.words) || "a redirect"} ${access === "reads" ? "would read" : "would change"} ${path}, and ${describe(rule)} applies to that file`;
      if (certain && rule.effect === "deny") return { effect: "deny", rule, why };
      doubt ??= { effect: "ask", rule, why };
    }
  }
  doubt ??= unseenOperand(simple, strict.reads);
  doubt ??= await walkedFiles(simple, folder, strict.reads, disk);
  return doubt;
}

async function leadsTo(path: string, rule: Rule, disk: DiskView): Promise<boolean> {
  const { pattern = "" } = rule;
  if (matchPath(pattern, path, "wide", disk.root)) return true;
  const real = await disk.locate(path);
  return real !== undefined && real !== path && matchPath(pattern, real, "wide", disk.root);
}

interface TouchedFile {
  readonly path: string;
  readonly access: Access;
  /** It is a file that is read or written; otherwise a word that may be one. */
  readonly certain: boolean;
}

/** The words of a command that are files, or may be. */
export function touchedFiles(simple: SimpleCommand): TouchedFile[] {
  const touched: TouchedFile[] = simple.redirects.map(({ path, writes }) => ({
    path,
    access: writes ? "writes" : "reads",
    certain: true,
  }));
  const name = programName(simple.words);
  const subject = name === "git" ? `git ${simple.words[1] ?? ""}` : name;
  const reads = FILE_READERS.has(subject);
  const writes =
    FILE_WRITERS.has(subject) ||
    (name === "sed" && simple.words.some((word) => /^(?:-[a-zA-Z]*i|--in-place)/.test(word)));
  if (TEXT_ONLY.has(subject)) return touched;
  for (const [index, word] of simple.words.entries()) {
    if (index === 0 || (simple.starts.length > 0 && !reads && !writes)) continue;
    for (const path of pathsIn(word)) {
      if (reads || !writes) touched.push({ path, access: "reads", certain: reads });
      if (writes || !reads) touched.push({ path, access: "writes", certain: writes });
    }
  }
  return touched;
}

/** A word as a path, and the paths that may be in it: `--file=x`, `if=x`, `@x`, `HEAD:x`, `-fx`. */
function pathsIn(word: string): string[] {
  const found = word.startsWith("-") ? [] : [word];
  const inside = /[=@:](.+)$/s.exec(word)?.[1];
  if (inside !== undefined) found.push(inside.replace(/^@/, ""));
  if (/^-[A-Za-z]./.test(word)) found.push(word.slice(2));
  return found.filter((path) => path !== "" && path !== "-");
}

/** A reader whose operands are only known when it runs may read the file. */
function unseenOperand(simple: SimpleCommand, rules: readonly Rule[]): FileRuleVerdict | undefined {
  const [rule] = rules;
  const name = programName(simple.words);
  if (rule === undefined || TEXT_ONLY.has(name) || simple.starts.length > 0) return undefined;
  const fed = feedsOf(simple).length > 0;
  const hidden = simple.unknown.some((index) => !simple.feeds.has(index)) || (simple.open && !fed);
  const patterned = simple.globbed.length > 0;
  if (!hidden && !(patterned && globReaches(simple, rules))) return undefined;
  if (!FILE_READERS.has(name) && !isInterpreter(name) && !patterned) return undefined;
  return {
    effect: "ask",
    rule,
    why: `the files that ${name} reads are only known at run time, and ${describe(rule)} may apply`,
  };
}

/** Whether a file name pattern of the command may come to mean a file of the rule: their last parts could meet. */
function globReaches({ words, globbed }: SimpleCommand, rules: readonly Rule[]): boolean {
  return globbed.some((index) =>
    rules.some((rule) => {
      const wanted = (rule.pattern ?? "").split("/").at(-1) ?? "";
      const given = (words[index] ?? "").split("/").at(-1) ?? "";
      const hiddenMiss = wanted.startsWith(".") && !given.startsWith(".");
      return hasGlob(wanted) || (!hiddenMiss && globsMeet(given.toLowerCase(), wanted.toLowerCase()));
    }),
  );
}

/** What reads whole folders, with a file of a rule somewhere below. */
async function walkedFiles(
  simple: SimpleCommand,
  folder: string,
  rules: readonly Rule[],
  disk: DiskView,
): Promise<FileRuleVerdict | undefined> {
  const [first] = rules;
  if (first === undefined) return undefined;
  const ruleOf = (path: string): Rule | undefined =>
    rules.find((rule) => matchPath(rule.pattern ?? "", path, "wide", disk.root));
  const isMet = (path: string): string | undefined => (ruleOf(path) === undefined ? undefined : MET + path);
  const patterns = rules.map(({ pattern }) => pattern);
  const verdictOf = (found: string | undefined): FileRuleVerdict | undefined => {
    if (found === undefined) return undefined;
    if (!found.startsWith(MET)) return { effect: "ask", rule: first, why: found };
    const path = found.slice(MET.length);
    const rule = ruleOf(path) ?? first;
    return { effect: "ask", rule, why: `it would read ${path}, which ${describe(rule)} is about` };
  };
  for (const feed of feedsOf(simple)) {
    const walk = { ...feedWalk(feed, folder), namesOnly: true };
    const found = await disk.finding("rules", [feed, folder, patterns], (files) =>
      feed.git === "index" ? walkTracked(walk, files, isMet) : walkFolders(walk, files, isMet),
    );
    if (found !== undefined) return verdictOf(found);
  }
  const reader = TREE_READERS[programName(simple.words)];
  if (reader === undefined || !simple.words.some((word, index) => index > 0 && reader.test(word))) {
    if (reader?.source !== ALWAYS) return undefined;
  }
  const name = programName(simple.words);
  const operands = simple.words.slice(1).filter((word) => !word.startsWith("-"));
  const roots = [".", ...operands].slice(operands.length > 1 && name !== "git" ? 1 : 0);
  const walk = {
    folders: roots.map((root) => inFolder(folder, root)),
    isShown: (entry: string): boolean => name !== "rg" || !entry.startsWith("."),
    skips: (entry: string) => name === "rg" && entry === "node_modules",
    isRead: () => true,
    namesOnly: true,
  };
  return verdictOf(
    await disk.finding("rules", [name, walk.folders, patterns], (files) => walkFolders(walk, files, isMet)),
  );
}

/** Before a path that a rule is about, where a walk says what it found. */
const MET = "met ";
const ALWAYS = "(?:)";

function describe(rule: Rule): string {
  return `the ${rule.effect} rule ${rule.text} (${rule.source})`;
}
