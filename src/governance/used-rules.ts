/** Which rules would let one recorded call pass: as narrow as they can be written, and the wider one that each is a case of. */

import { factsOf } from "#tools";
import { recordedPath } from "./disk-view.ts";
import { isFileTool, kindOf, namedPaths } from "./known-tools.ts";
import { argvGlobOf } from "./quiet-preset.ts";
import type { RecordedCall } from "./recorded-calls.ts";
import { parseRule, type Rule } from "./rules.ts";
import { analyseShell } from "./shell/analysis.ts";
import type { SimpleCommand } from "./shell/command.ts";
import { loudness } from "./shell/quiet.ts";
import { hasGlob } from "./wildcard.ts";

export interface UsedRule {
  /** Covers this and nothing else; absent when that cannot be written. */
  readonly narrow?: string;
  /** Covers its kind; absent when there is none. */
  readonly wide?: string;
  /** What was used, so that cases of a kind can be told apart. */
  readonly used: string;
}

/** Every one of them is needed. Undefined when no rule can be written for the call. */
export function rulesFor(call: RecordedCall, strict: boolean): readonly UsedRule[] | undefined {
  const { name, args = {} } = call;
  const label = factsOf(name)?.label ?? name;
  const kind = kindOf(name);
  if (kind === "command")
    return typeof args.command === "string" ? commandRules(label, args.command, call.root, strict) : undefined;
  if (kind === "fetch") return typeof args.url === "string" ? urlRules(label, args.url) : undefined;
  if (isFileTool(name)) return pathRules(label, call);
  // Whoever it is given to, a rule for it would let any code along.
  if (kind === "delegation") return undefined;
  const subject = call.judgedOn?.subject ?? JSON.stringify(args);
  const exact = /[*?()[\]]/.test(subject) ? {} : { narrow: `${name}(${subject})` };
  return readable([{ ...exact, wide: name, used: subject }]);
}

/** A compound command needs a rule for each of its parts that is not quiet. */
function commandRules(label: string, command: string, root: string, strict: boolean): readonly UsedRule[] | undefined {
  const analysis = analyseShell(command);
  if (!analysis.understood) return undefined;
  const rules: UsedRule[] = [];
  const need = (simple: SimpleCommand): boolean => {
    if (!strict && loudness(simple, { root }) === undefined) return true;
    if (!simple.starts.every(need)) return false;
    if (simple.transparent && simple.starts.length > 0) return true;
    const exact = argvText(simple.words);
    const glob = argvGlobOf(simple);
    if (exact === undefined && glob === undefined) return false;
    rules.push({
      ...(exact === undefined ? {} : { narrow: `${label}(${exact})` }),
      ...(glob === undefined ? {} : { wide: `${label}(${glob})` }),
      used: JSON.stringify(simple.words),
    });
    return true;
  };
  return analysis.commands.every(need) ? readable(rules) : undefined;
}

/** The words as a pattern that stands for them alone. */
function argvText(words: readonly string[]): string | undefined {
  const quoted = words.map((word) => {
    if (/[*?]/.test(word)) return undefined;
    if (/^[^\s"']+$/.test(word)) return word;
    if (!word.includes('"')) return `"${word}"`;
    return word.includes("'") ? undefined : `'${word}'`;
  });
  return quoted.includes(undefined) ? undefined : quoted.join(" ");
}

function pathRules(label: string, { name, args = {}, judgedOn, root }: RecordedCall): readonly UsedRule[] | undefined {
  const written = namedPaths(name, args);
  // A link is judged by its name and by where it leads.
  const paths = new Set(written.flatMap((path) => [path, recordedPath(judgedOn, path, root) ?? path]));
  if (paths.size === 0 || [...paths].some((path) => hasGlob(path) || /[()|\\!]/.test(path))) return undefined;
  return readable(
    [...paths].map((path) => {
      const relative = path.replace(/^(?:\.\/)+/, "");
      const folder = relative.slice(0, Math.max(0, relative.lastIndexOf("/")));
      const narrow = `${label}(${relative})`;
      const hasKind = folder !== "" && !relative.startsWith("/");
      return { narrow, used: narrow, ...(hasKind ? { wide: `${label}(${folder}/*)` } : {}) };
    }),
  );
}

function urlRules(label: string, text: string): readonly UsedRule[] | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) return undefined;
  const page = `${url.origin}${url.pathname}${url.search}`;
  // The one before a query stands for itself and for any other character; that is as near as it can be written.
  const isExact = !/[*()]/.test(page) && !page.slice(page.indexOf("?") + 1).includes("?");
  const narrow = isExact ? { narrow: `${label}(${page})` } : {};
  return readable([{ ...narrow, wide: `${label}(${url.origin}/*)`, used: page }]);
}

/** Undefined when one of them cannot be written as a rule. */
function readable(rules: readonly UsedRule[]): readonly UsedRule[] | undefined {
  const isReadable = (text: string | undefined): boolean => text === undefined || ruleOf(text) !== undefined;
  return rules.every(({ narrow, wide }) => isReadable(narrow) && isReadable(wide)) ? rules : undefined;
}

export function ruleOf(text: string): Rule | undefined {
  try {
    return parseRule(text, "allow", "suggested");
  } catch {
    return undefined; // a control character, or longer than a rule may be
  }
}
