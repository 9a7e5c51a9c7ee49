/** `harness policy diff`: what another policy would have said of the calls that are on the record. */
import { counted, defined, visibleLine } from "#base";
import {
  type ComparedCall,
  chosenSessions,
  createPolicyDiff,
  factsOf,
  loadPolicy,
  type PolicyFlags,
  RECORDED,
  type Redecided,
  recordedSession,
  type SessionFlags,
  withStore,
} from "#program";
import { subjectOf } from "./call-subject.ts";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";

/** Calls that are shown of a group; `--json` has all. */
const SHOWN_CALLS = 5;

export type FailOn = "loosened" | "tightened" | "undecided";

export interface PolicyDiffFlags extends SessionFlags, PolicyFlags {
  readonly failOn?: readonly FailOn[];
  readonly json?: boolean;
}

type Counts = Readonly<Record<ComparedCall["change"], number>>;

export async function policyDiffCommand(
  ports: CliPorts,
  before: string,
  after: string,
  flags: PolicyDiffFlags,
): Promise<ExitCode> {
  const { terminal } = ports;
  const old = before === RECORDED ? RECORDED : await loadPolicy(ports, before, flags);
  const diff = createPolicyDiff(old, await loadPolicy(ports, after, flags));
  return withStore<ExitCode>(ports, flags, async (store) => {
    const sessions = await chosenSessions(ports, store, flags);
    const counts = { same: 0, moved: 0, loosened: 0, tightened: 0, undecided: 0, unjudged: 0 };
    const changed: ComparedCall[] = [];
    let innerEffects = 0;
    for (const meta of sessions) {
      for (const one of await diff.compare(await recordedSession(store, meta))) {
        counts[one.change] += 1;
        // A built-in tool is its effect; what a script does is judged inside the call.
        if (one.call.hadInnerEffects && factsOf(one.call.name) === undefined) innerEffects += 1;
        if (one.change !== "same" && one.change !== "unjudged") changed.push(one);
      }
    }
    const mayBeLoosened = changed.filter((one) => one.mayBeLoosened).length;
    const { changedHooks, changedBesides } = diff;
    if (flags.json) {
      const summary = { sessions: sessions.map(({ id }) => id), counts, may_be_loosened: mayBeLoosened };
      const rest = {
        changed_hooks: changedHooks,
        changed_besides: changedBesides,
        calls_with_inner_effects: innerEffects,
        changes: changed.map(toJson),
      };
      terminal.out(`${JSON.stringify({ ...summary, ...rest })}\n`);
    } else {
      terminal.out(render({ sessions: sessions.length, counts, changed, changedHooks, changedBesides, innerEffects }));
    }
    const isUnseen = flags.failOn?.includes("undecided") === true && changedBesides.length > 0;
    return isUnseen || (flags.failOn ?? []).some((what) => isFailure(what, counts, mayBeLoosened)) ? 1 : 0;
  });
}

/** What cannot be told may be what is to be kept out. */
function isFailure(what: FailOn, counts: Counts, mayBeLoosened: number): boolean {
  return counts[what] > 0 || (what === "loosened" && mayBeLoosened > 0);
}

function toJson({ call, change, before, after, mayBeLoosened }: ComparedCall) {
  const { id, session, name, args, startedAt, answer } = call;
  return {
    change,
    ...(mayBeLoosened ? { may_be_loosened: true } : {}),
    call_id: id,
    session,
    started_at: startedAt,
    name,
    args,
    before,
    after,
    ...defined({ answer }),
  };
}

interface Report {
  readonly sessions: number;
  readonly counts: Counts;
  readonly changed: readonly ComparedCall[];
  readonly changedHooks: readonly string[];
  readonly changedBesides: readonly string[];
  readonly innerEffects: number;
}

function render({ sessions, counts, changed, changedHooks, changedBesides, innerEffects }: Report): string {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const parts = [
    `${counts.loosened} loosened`,
    `${counts.tightened} tightened`,
    `${counts.undecided} cannot be decided again`,
    `${counts.moved} with the same effect by another rule`,
    `${counts.same} the same`,
    `${counts.unjudged} without a recorded decision`,
  ];
  const head = `${counted(total, "call")} in ${counted(sessions, "session")}: ${parts.join(", ")}.\n`;
  const groups = (["loosened", "tightened", "undecided", "moved"] as const).flatMap((change) =>
    groupsOf(changed.filter((one) => one.change === change)).map(renderGroup),
  );
  const notes = [
    ...(changedHooks.length === 0
      ? []
      : [
          `Hooks on tool.pre differ (${changedHooks.join(", ")}). Their recorded answers are used; they do not run again.`,
        ]),
    ...(changedBesides.length === 0
      ? []
      : [`These also differ, but are not compared here: ${changedBesides.join(", ")}. Review them yourself.`]),
    ...(innerEffects === 0
      ? []
      : [
          `${counted(innerEffects, "call")} of project tools had effects inside their scripts, which are not decided again.`,
        ]),
  ];
  return [head, ...groups, ...notes.map((note) => `${visibleLine(note)}\n`)].join("\n");
}

/** Calls for which the same was decided, before and after. */
function groupsOf(changed: readonly ComparedCall[]): readonly (readonly ComparedCall[])[] {
  const groups = new Map<string, ComparedCall[]>();
  for (const one of changed) {
    const key = `${decidedText(one.before)} ${decidedText(one.after)}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [one]);
    else group.push(one);
  }
  return [...groups.values()].toSorted((a, b) => b.length - a.length);
}

function renderGroup(group: readonly ComparedCall[]): string {
  const [first] = group;
  const { before, after, change } = first ?? { change: "same" };
  const shown = group.slice(0, SHOWN_CALLS).map(({ call }) => `  ${call.id}  ${call.name}  ${subjectOf(call)}`);
  const more = group.length > shown.length ? [`  … and ${group.length - shown.length} more`] : [];
  const what = change === "moved" ? "same effect" : change;
  return [
    `${before?.effect} → ${after?.effect}  ${what}, ${counted(group.length, "call")}`,
    `  before: ${decidedText(before)}`,
    `  after:  ${decidedText(after)}`,
    ...shown,
    ...more,
    "",
  ]
    .map(visibleLine)
    .join("\n");
}

function decidedText(decided: Redecided | undefined): string {
  if (decided === undefined) return "";
  if (decided.effect === "unknown") return `cannot be decided again: ${decided.why}`;
  const { effect, by, source, why } = decided;
  const written = source === undefined ? "" : ` (${source})`;
  // A rule and its place say it all; a preset has a reason for each call.
  return by.startsWith("rule ") || by === "tools_policy"
    ? `${effect} by ${by}${written}`
    : `${effect} by ${by}${written}: ${why}`;
}
