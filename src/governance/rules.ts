/**
 * Permission rules: how one is written, and what a set of them says about a call. Pure: no defaults, no preset and no
 * session live here, and a verdict of `none` leaves the decision to the caller.
 */
import { type Label, ReasonError, type ToolClass } from "#protocol";
import type { ToolKind } from "#tools";
import { argvPattern, matchArgv, matchCost } from "./argv-patterns.ts";
import {
  canonicalName,
  isFileTool,
  kindOf,
  type NamedTool,
  namedPaths,
  pathArguments,
  textsOf,
  toolsOfKind,
} from "./known-tools.ts";
import { isUrlPattern, matchPath, matchUrl, type PatternMatch, type Reading } from "./rule-patterns.ts";
import { analyseShell } from "./shell/analysis.ts";
import { everyCommand, type SimpleCommand } from "./shell/command.ts";
import { mentionedProgram, mentionsWord } from "./shell/mentions.ts";
import { poisons, startsPrograms } from "./shell/wrappers.ts";
import { hasGlob, matchWildcard } from "./wildcard.ts";

export type RuleEffect = "allow" | "ask" | "deny";

export interface Rule {
  readonly effect: RuleEffect;
  /** Where it is written: `config.toml:12`, `session`. */
  readonly source: string;
  /** As it was written. */
  readonly text: string;
  /** A tool name, a label, or a glob on tool names. */
  readonly tool: string;
  /** Absent: every call of the tool. */
  readonly pattern?: string;
  /** The rule holds in a session that holds all of these. Absent: in every session. */
  readonly labels?: readonly Label[];
}

/** The `tool` is a canonical name. */
export interface RuleCall extends NamedTool {
  readonly class: ToolClass;
  readonly args: Readonly<Record<string, unknown>>;
  /** A command, a path, a URL: what the tool says a pattern is about. */
  readonly subject: string;
}

export interface RuleContext {
  /** The absolute workspace root; needed to see that an absolute path is one of the workspace. */
  readonly root?: string;
  /** Simple commands that need no rule inside a compound command, such as those of the quiet preset. */
  readonly passes?: (command: SimpleCommand) => boolean;
}

export interface RuleMatch {
  readonly rule: Rule;
  /** The part of the call it matched: a command's words, a path, a URL. */
  readonly matched: string;
}

export interface RuleVerdict {
  /** `none`: no rule decides, so the caller's default does. */
  readonly effect: RuleEffect | "none";
  /** The rule that decided; absent when nothing matched or when a doubt made it an ask. */
  readonly rule?: Rule;
  /** For people, when it is not just the rule. */
  readonly why?: string;
  /** Every rule that matched some part of the call, in the order of the rules. */
  readonly trail: readonly RuleMatch[];
}

const MAX_RULE_CHARS = 1000;

/** Throws a `ReasonError` (`ConfigInvalid`) that names the source, the mistake and an example. */
export function parseRule(text: string, effect: RuleEffect, source: string): Rule {
  const trimmed = text.trim();
  const wrong = (detail: string, example: string): never => {
    throw new ReasonError(
      "ConfigInvalid",
      `${source}: the ${effect} rule '${trimmed.slice(0, 80)}' ${detail}. Example: ${example}`,
    );
  };
  if (trimmed === "") wrong("is empty", "Bash(git status)");
  if (trimmed.length > MAX_RULE_CHARS) wrong(`is longer than ${MAX_RULE_CHARS} characters`, "Bash(npm run *)");
  if (/\p{Cc}/u.test(trimmed)) wrong("contains control characters", "Read(src/**)");
  const [, named = trimmed, listed] = /^(.*\S)\s*\[([^[\]]*)\]$/.exec(trimmed) ?? [];
  const labels = listed === undefined ? undefined : parseLabels(listed);
  if (listed !== undefined && labels === undefined) wrong(`names unknown labels: [${listed}]`, "WebFetch[private]");
  const held = labels === undefined ? {} : { labels };
  const [, tool = "", rest = ""] = /^([^(\s]*)\s*(.*)$/.exec(named) ?? [];
  if (!/^[A-Za-z_*][\w.*-]*$/.test(tool)) wrong("does not begin with a tool name", "fs.read, Read or fs.*");
  if (rest === "") return { effect, source, text: trimmed, tool, ...held };
  if (!rest.startsWith("(") || !rest.endsWith(")"))
    wrong("needs its pattern in one pair of parentheses", `${tool}(pattern)`);
  const pattern = rest.slice(1, -1).trim();
  if (pattern === "") wrong("has an empty pattern", `${tool} alone for every call, or ${tool}(pattern)`);
  if (pattern.startsWith("!"))
    wrong("negates its pattern, which rules do not support", `a deny rule for ${tool}(${pattern.slice(1)})`);
  const quotes = pattern.replace(/"[^"]*"|'[^']*'/g, "");
  const kind = kindOf(canonicalName(tool));
  if (kind === "command" && /["']/.test(quotes)) wrong("has a quote that is not closed", 'Bash(git commit -m "a b")');
  if (kind === "fetch" && !isUrlPattern(pattern)) {
    wrong("is neither a domain nor a URL", "WebFetch(domain:example.com) or WebFetch(https://example.com/docs/*)");
  }
  return /^\*{1,2}$/.test(pattern)
    ? { effect, source, text: trimmed, tool, ...held }
    : { effect, source, text: trimmed, tool, pattern, ...held };
}

const LABELS: readonly Label[] = ["private", "untrusted"];

function parseLabels(text: string): readonly Label[] | undefined {
  const names = text.split(",").map((name) => name.trim());
  const known = names.flatMap((name) => LABELS.filter((label) => label === name));
  return known.length === names.length ? known : undefined;
}

/**
 * The strictest rule that matches: deny, then ask, then allow. A shell command is allowed when each of its commands is,
 * and denied when any is, also behind a wrapper; a doubt about a deny or ask rule is an ask.
 */
export function evaluateRules(rules: readonly Rule[], call: RuleCall, context: RuleContext = {}): RuleVerdict {
  const relevant = relevantRules(rules, call);
  return kindOf(call.tool) === "command"
    ? evaluateCommand(relevant, call, context)
    : evaluateSubjects(relevant, call, context);
}

/** By list of rules, which nobody changes once it is made, and by tool: most calls are of a few tools. */
const relevantOf = new WeakMap<readonly Rule[], Map<string, readonly Rule[]>>();
/** Tools that are kept for one list. */
const MAX_TOOLS = 200;

function relevantRules(rules: readonly Rule[], call: RuleCall): readonly Rule[] {
  const byTool = relevantOf.get(rules) ?? new Map<string, readonly Rule[]>();
  const key = `${call.tool} ${call.label}`;
  const known = byTool.get(key);
  if (known !== undefined) return known;
  const relevant = rules.filter((rule) => namesTool(rule, call));
  if (byTool.size < MAX_TOOLS) byTool.set(key, relevant);
  relevantOf.set(rules, byTool);
  return relevant;
}

/** A label counts for an allow only where it is that of a built-in tool: a foreign tool may call itself `Read`. */
export function namesTool(rule: Rule, call: NamedTool): boolean {
  return (
    matchWildcard(canonicalName(rule.tool), call.tool) ||
    (rule.effect !== "allow" && matchWildcard(rule.tool, call.label))
  );
}

/** Whether a rule is about some built-in tool of these kinds. */
export function namesKind(rule: Rule, ...kinds: readonly ToolKind[]): boolean {
  return toolsOfKind(...kinds).some((tool) => namesTool(rule, tool));
}

function evaluateSubjects(rules: readonly Rule[], call: RuleCall, context: RuleContext): RuleVerdict {
  const subjects = subjectsOf(call);
  const trail: RuleMatch[] = [];
  const allowed = new Set<string>();
  let doubt: string | undefined;
  for (const rule of rules) {
    for (const subject of subjects) {
      const match = matchSubject(rule, subject, call.tool, context);
      if (match === "yes") trail.push({ rule, matched: subject });
      if (match === "yes" && rule.effect === "allow") allowed.add(subject);
      if (match === "maybe") doubt ??= `Harness cannot tell whether ${describe(rule)} covers ${subject}`;
    }
  }
  return conclude(
    trail,
    doubt,
    subjects.every((subject) => allowed.has(subject)),
  );
}

function matchSubject(rule: Rule, subject: string, tool: string, context: RuleContext): PatternMatch {
  if (rule.pattern === undefined) return "yes";
  const reading: Reading = rule.effect === "allow" ? "narrow" : "wide";
  if (isFileTool(tool)) return matchPath(rule.pattern, subject, reading, context.root) ? "yes" : "no";
  if (kindOf(tool) === "fetch") return matchUrl(rule.pattern, subject, reading);
  return matchWildcard(rule.pattern, subject) ? "yes" : "no";
}

/** All paths of a file call count, also the second one of a move and the glob of a search. */
export function subjectsOf({ tool, args, subject }: RuleCall): readonly string[] {
  if (!isFileTool(tool)) return [subject];
  const named = namedPaths(tool, args);
  const subjects = named.length > 0 ? named : [subject];
  return kindOf(tool) === "search" ? [...subjects, ...searchedGlobs(tool, args, subjects)] : subjects;
}

/** Which files a search reads. Of a list of names a glob shows nothing that is in the files. */
function searchedGlobs(tool: string, args: RuleCall["args"], folders: readonly string[]): readonly string[] {
  const names = pathArguments(tool).flatMap(({ name, means }) => (means === "glob" ? [name] : []));
  return textsOf(names, args)
    .filter((glob) => !glob.startsWith("!"))
    .flatMap((glob) => folders.map((folder) => (folder === "." ? glob : `${folder}/${glob}`)));
}

function evaluateCommand(rules: readonly Rule[], call: RuleCall, context: RuleContext): RuleVerdict {
  const { command: given } = call.args;
  const text = typeof given === "string" ? given : call.subject;
  const analysis = analyseShell(text);
  const whole = rules.filter((rule) => rule.pattern === undefined);
  const trail: RuleMatch[] = whole.map((rule) => ({ rule, matched: text }));
  const allowsTool = whole.some((rule) => rule.effect === "allow");
  const strict = rules.filter((rule) => rule.pattern !== undefined && rule.effect !== "allow");
  const all = [...everyCommand(analysis.commands)];
  // What was seen of a command that was not understood is certain: a deny for it holds.
  let doubt =
    analysis.understood || strict.length === 0 ? undefined : `Harness does not understand the command: ${analysis.why}`;
  if (strict.length > 0) doubt ??= all.map(steeredBy).find((why) => why !== undefined);
  const covered = new Set<SimpleCommand>();
  let work = MAX_MATCH_WORK;
  for (const rule of rules) {
    if (rule.pattern === undefined) continue;
    const pattern = argvPattern(rule.pattern);
    const reading: Reading = rule.effect === "allow" ? "narrow" : "wide";
    for (const command of all) {
      work -= matchCost(pattern, command);
      const match = work > 0 ? matchArgv(pattern, command, reading) : reading === "narrow" ? "no" : "maybe";
      if (match === "yes") trail.push({ rule, matched: command.words.join(" ") });
      if (match === "yes" && rule.effect === "allow") covered.add(command);
      if (match === "maybe")
        doubt ??= `Harness cannot tell whether ${describe(rule)} covers ${command.words.join(" ")}`;
      if (match === "no" && reading === "wide")
        doubt ??= hiddenProgram(rule, pattern, command) ?? unseenProgram(rule, command);
    }
  }
  const passes = (command: SimpleCommand): boolean => {
    if (context.passes?.(command) === true) return true;
    const itself = covered.has(command) || (command.transparent && command.redirects.length === 0 && !command.poisoned);
    return itself && command.starts.every(passes);
  };
  const byParts = analysis.understood && covered.size > 0 && analysis.commands.every(passes);
  return conclude(inRuleOrder(trail, rules), doubt, allowsTool || byParts);
}

/** Steps that all matching of one call may take. Counted, not timed, so that a replay decides the same. */
const MAX_MATCH_WORK = 2_000_000;

/** Variables that decide which program or which code a name stands for. */
const STEERING =
  /^(?:PATH|ENV|BASH_ENV|BASH_FUNC_.*|BASHOPTS|SHELLOPTS|IFS|PS4|PROMPT_COMMAND|(?:LD|DYLD)_.*|GIT_(?:EXEC_PATH|SSH.*|ASKPASS|.*EDITOR|PAGER|EXTERNAL_DIFF|CONFIG.*))\+?=/;

/** Why its variables may make its words mean another program. */
export function steeredBy({ assignments, words }: SimpleCommand): string | undefined {
  const found = [...assignments, ...(poisons(words) === undefined ? [] : words.slice(1))].find((text) =>
    STEERING.test(text),
  );
  return found === undefined ? undefined : `${found.split("=", 1)[0]} may change what its commands run`;
}

/** A denied program named in the arguments of something that may start it: `watch 'rm x'`. */
function hiddenProgram(rule: Rule, pattern: readonly string[], command: SimpleCommand): string | undefined {
  const program = (pattern[0] ?? "").split("/").at(-1) ?? "";
  if (program === "" || hasGlob(program)) return undefined;
  const rest = pattern.slice(1).filter((word) => !hasGlob(word) && !/^-/.test(word));
  const named = mentionedProgram(command, [program]);
  if (named === undefined) return undefined;
  if (!rest.every((word) => mentionsWord(command, word))) return undefined;
  return `${command.words[0] ?? ""} may run ${named}, and ${describe(rule)} applies to that program`;
}

/** Something that starts programs, with words that are only known at run time: `env $X`, `find . $Y`. */
function unseenProgram(rule: Rule, command: SimpleCommand): string | undefined {
  const [hidden] = command.unknown;
  if (hidden === undefined || !startsPrograms(command.words)) return undefined;
  return `${command.words[hidden] ?? ""} is only known at run time, and ${describe(rule)} may apply`;
}

function conclude(trail: readonly RuleMatch[], doubt: string | undefined, allowed: boolean): RuleVerdict {
  const first = (effect: RuleEffect): Rule | undefined => trail.find((match) => match.rule.effect === effect)?.rule;
  const denied = first("deny");
  if (denied !== undefined) return { effect: "deny", rule: denied, trail };
  const asked = first("ask");
  if (asked !== undefined) return { effect: "ask", rule: asked, trail };
  if (doubt !== undefined) return { effect: "ask", why: doubt, trail };
  const allow = first("allow");
  return allowed && allow !== undefined ? { effect: "allow", rule: allow, trail } : { effect: "none", trail };
}

function inRuleOrder(trail: readonly RuleMatch[], rules: readonly Rule[]): RuleMatch[] {
  return trail.toSorted((a, b) => rules.indexOf(a.rule) - rules.indexOf(b.rule));
}

function describe(rule: Rule): string {
  return `the ${rule.effect} rule ${rule.text} (${rule.source})`;
}
