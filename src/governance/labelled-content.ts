/**
 * Which labels the content has that a call brings in: by its nature, and by the rules of the user. A rule about a file is about
 * the file, whatever reads it: a tool, a command, a search, a script inside a call, or any of them through a link.
 */
import type { LabelRule } from "#artifacts";
import type { CallResult } from "#engine";
import type { Label } from "#protocol";
import type { DiskView } from "./disk-view.ts";
import { judgeFileRules, touchedFiles } from "./file-rules.ts";
import { isCommand, isFileTool, isServerTool, kindOf, namedPaths } from "./known-tools.ts";
import { bringsContentIn } from "./network-programs.ts";
import { inFolder, locatedArguments } from "./on-disk.ts";
import { matchPath } from "./rule-patterns.ts";
import { evaluateRules, namesKind, parseRule, type Rule, type RuleCall } from "./rules.ts";
import { isSensitivePath } from "./sensitive-paths.ts";
import { analyseShell } from "./shell/analysis.ts";
import { everyCommand } from "./shell/command.ts";

/** What the result of such a call holds whatever the policy says. */
export async function labelsByNature(call: RuleCall, disk: DiskView): Promise<readonly Label[]> {
  const { tool, args, subject } = call;
  const kind = kindOf(tool);
  if (kind === "fetch" || isServerTool(tool)) return ["untrusted"];
  const read = kind === "command" ? readByCommand(subject, cwdOf(args)) : kind === "read" ? namedPaths(tool, args) : [];
  const labels: Label[] = [];
  for (const path of read) {
    if (!(await isPrivate(path, disk))) continue;
    labels.push("private");
    break;
  }
  if (kind === "command" && bringsContentIn(subject)) labels.push("untrusted");
  return labels;
}

/** What rules say that the result of the call holds. In doubt a rule is meant: a label that is too much asks once more. */
export async function labelsByRules(
  call: RuleCall,
  rules: readonly LabelRule[],
  disk: DiskView,
): Promise<readonly Label[]> {
  const found: Label[] = [];
  for (const { label, rule, source } of rules) {
    if (!found.includes(label) && (await isMeant(parsed(rule, source), call, disk))) found.push(label);
  }
  return found;
}

/** What a search has shown is named in its result. A line that reads like such a name counts as one. */
export function labelsOfPrintedFiles(
  { content }: CallResult,
  rules: readonly LabelRule[],
  root: string,
): readonly Label[] {
  const about = rules.flatMap(({ label, rule: text, source }) => {
    const rule = parsed(text, source);
    return rule.pattern !== undefined && namesKind(rule, "read", "search") ? [{ label, pattern: rule.pattern }] : [];
  });
  if (about.length === 0) return [];
  const lines = content.flatMap((block) => (block.type === "text" ? block.text.split("\n") : []));
  const names = lines.map((line) => line.replace(COUNT, "")).filter((line) => line !== "" && !SHOWN_LINE.test(line));
  return about
    .filter(({ pattern }) => names.some((name) => matchPath(pattern, name, "wide", root)))
    .map(({ label }) => label);
}

/** Behind a name, where a search counts. */
const COUNT = /:\d+$/;
/** A line of a file, with its number. */
const SHOWN_LINE = /^\d+[:-]/;

async function isMeant(rule: Rule, call: RuleCall, disk: DiskView): Promise<boolean> {
  const isNamed = (as: RuleCall): boolean => evaluateRules([rule], as, { root: disk.root }).effect !== "none";
  if (isNamed(call)) return true;
  if (isCommand(call.tool)) {
    const context = { rules: [rule], disk, cwd: cwdOf(call.args) };
    return (await judgeFileRules(call.subject, context)) !== undefined;
  }
  if (!isFileTool(call.tool)) return false;
  const args = await locatedArguments(call.tool, call.args, disk);
  return args !== undefined && isNamed({ ...call, args });
}

async function isPrivate(path: string, disk: DiskView): Promise<boolean> {
  if (isSensitivePath(path).sensitive) return true;
  const real = await disk.locate(path);
  return real !== undefined && isSensitivePath(real).sensitive;
}

/** Files that a command reads, or may read, from the workspace root. */
function readByCommand(command: string, cwd: string): readonly string[] {
  const read: string[] = [];
  for (const simple of everyCommand(analyseShell(command).commands)) {
    const paths = touchedFiles(simple).flatMap(({ path, access }) => (access === "reads" ? [path] : []));
    for (const folder of simple.folders) read.push(...paths.map((path) => inFolder(inFolder(cwd, folder), path)));
  }
  return read;
}

function cwdOf({ cwd }: Readonly<Record<string, unknown>>): string {
  return typeof cwd === "string" ? cwd : ".";
}

const MAX_PARSED = 1_000;
const parsedRules = new Map<string, Rule>();

function parsed(text: string, source: string): Rule {
  const known = parsedRules.get(text);
  if (known !== undefined) return known;
  const rule = parseRule(text, "ask", source);
  if (parsedRules.size >= MAX_PARSED) parsedRules.clear();
  parsedRules.set(text, rule);
  return rule;
}
