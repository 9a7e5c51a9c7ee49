/** `harness policy suggest`: the smallest rules that would have covered what was used, as a diff. Writes nothing. */

import { existsSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { addAllowRules } from "#artifacts";
import { counted, visibleLine, visibleProse } from "#base";
import {
  chosenSessions,
  configFile,
  loadPolicy,
  type PolicyFlags,
  PROJECT_FILES,
  type RecordedSession,
  recordedSession,
  type SessionFlags,
  type SuggestedRule,
  type Suggestions,
  suggestRules,
  withStore,
} from "#program";
import { subjectOf } from "./call-subject.ts";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";

/** Calls that are named for a rule, and of those without one; `--json` has all. */
const SHOWN_CALLS = 3;
const SHOWN_UNCOVERED = 10;
const CONTEXT_LINES = 3;

export interface PolicySuggestFlags extends SessionFlags, PolicyFlags {
  readonly for?: string;
  readonly json?: boolean;
}

export async function policySuggestCommand(ports: CliPorts, flags: PolicySuggestFlags): Promise<ExitCode> {
  const { terminal } = ports;
  const file = targetFile(ports, flags);
  // A configuration file need not be there yet: then what holds without one is what counts.
  const isThere = existsSync(file);
  const policy = await loadPolicy(ports, isThere || flags.for !== undefined ? file : ports.cwd, flags);
  const found = await withStore<Suggestions>(ports, flags, async (store) => {
    const sessions: RecordedSession[] = [];
    for (const meta of await chosenSessions(ports, store, flags)) sessions.push(await recordedSession(store, meta));
    return suggestRules(policy, sessions);
  });
  const text = isThere ? readFileSync(file, "utf8") : "";
  const added = await addAllowRules(
    file,
    text,
    found.rules.map(({ rule }) => rule),
  );
  const name = shownName(ports, file);
  const diff = await unifiedDiff(name, text, added);
  terminal.out(flags.json ? `${JSON.stringify(toJson(file, found, diff))}\n` : render(name, found, diff));
  return 0;
}

function targetFile(ports: CliPorts, flags: PolicySuggestFlags): string {
  if (flags.for !== undefined) return resolve(ports.cwd, flags.for);
  const project = PROJECT_FILES.map((name) => join(ports.cwd, name)).find((path) => existsSync(path));
  return project ?? configFile(ports, flags.config);
}

function shownName({ cwd }: CliPorts, file: string): string {
  const inside = relative(cwd, file);
  return inside.startsWith("..") ? file : inside;
}

async function unifiedDiff(name: string, before: string, after: string): Promise<string> {
  if (before === after) return "";
  const { createTwoFilesPatch } = await import("diff");
  const patch = createTwoFilesPatch(name, name, before, after, "", "", { context: CONTEXT_LINES });
  // Without what stands before it, and the tabs where times would stand.
  return patch.slice(patch.indexOf("--- ")).replace(/^(---|\+\+\+) (.*)\t$/gm, "$1 $2");
}

function toJson(file: string, { rules, uncovered, covered }: Suggestions, diff: string) {
  return {
    file,
    rules: rules.map((one) => ({
      rule: one.rule,
      calls: one.calls.map(({ id }) => id),
      sessions: sessionsOf(one),
    })),
    uncovered: uncovered.map(({ call, why }) => ({ call_id: call.id, session: call.session, name: call.name, why })),
    already_covered: covered,
    diff,
  };
}

/** Everything before the diff is a comment to programs that apply one. */
function render(name: string, { rules, uncovered, covered }: Suggestions, diff: string): string {
  const used = new Set(rules.flatMap(({ calls }) => calls.map(({ id }) => id))).size;
  const total = used + uncovered.length + covered;
  const head = `# ${counted(total, "call")} ran: ${covered} allowed by ${name} as it is, ${used} covered by the rules below, ${uncovered.length} not.`;
  const evidence = rules.map((one) => {
    const shown = one.calls.slice(0, SHOWN_CALLS).map((call) => `#   ${call.id}  ${call.name}  ${subjectOf(call)}`);
    const more = one.calls.length > shown.length ? [`#   … and ${one.calls.length - shown.length} more`] : [];
    const counts = `${counted(one.calls.length, "call")} in ${counted(sessionsOf(one).length, "session")}`;
    return [`# ${one.rule}: ${counts}`, ...shown, ...more].map(visibleLine).join("\n");
  });
  const left = uncovered
    .slice(0, SHOWN_UNCOVERED)
    .flatMap(({ call, why }) => [`#   ${call.id}  ${call.name}  ${subjectOf(call)}`, `#     ${why}`])
    .map(visibleLine);
  const unshown = uncovered.length - SHOWN_UNCOVERED;
  const more = unshown > 0 ? [`#   … and ${unshown} more`] : [];
  const without = left.length === 0 ? [] : [["# Not covered:", ...left, ...more].join("\n")];
  // The diff may be applied: it keeps its tabs.
  return `${[visibleLine(head), ...evidence, ...without].join("\n#\n")}\n${diff === "" ? "" : `\n${visibleProse(diff)}`}`;
}

function sessionsOf({ calls }: SuggestedRule): readonly string[] {
  return [...new Set(calls.map(({ session }) => session))];
}
