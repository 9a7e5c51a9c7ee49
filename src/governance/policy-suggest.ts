/**
 * The smallest rules that would have covered what was used: calls that ran because somebody said yes, or because of a rule that is
 * not in this policy. Every suggestion is held against the record: it covers the calls that it is for, and no call that was denied.
 */
import { type Backtest, createBacktest, type Redecided, type SessionBacktest } from "./backtest.ts";
import type { Policy } from "./policy.ts";
import type { RecordedCall, RecordedSession } from "./recorded-calls.ts";
import { ruleOf, rulesFor, type UsedRule } from "./used-rules.ts";

export interface SuggestedRule {
  readonly rule: string;
  /** The calls that need it. */
  readonly calls: readonly RecordedCall[];
}

export interface UncoveredCall {
  readonly call: RecordedCall;
  readonly why: string;
}

export interface Suggestions {
  /** Those that cover most calls first. */
  readonly rules: readonly SuggestedRule[];
  /** Used, and no rule is suggested for it. */
  readonly uncovered: readonly UncoveredCall[];
  /** Used, and allowed by the policy as it is. */
  readonly covered: number;
}

/** That many different cases of one kind are taken for the kind. */
const CASES_OF_A_KIND = 3;
/** More are not suggested: nobody would read them. */
const MAX_SUGGESTED = 200;

interface Need {
  readonly call: RecordedCall;
  readonly session: RecordedSession;
  readonly rules: readonly UsedRule[];
}

export async function suggestRules(policy: Policy, sessions: readonly RecordedSession[]): Promise<Suggestions> {
  const needs: Need[] = [];
  const denied: { call: RecordedCall; session: RecordedSession }[] = [];
  const uncovered: UncoveredCall[] = [];
  let covered = 0;
  for (const recorded of sessions) {
    const session = withoutSessionRules(recorded);
    const backtest = createBacktest(policy).begin(session);
    for (const call of session.calls) {
      const decided = await backtest.decide(call);
      if (decided === undefined) continue;
      if (wasDenied(call)) denied.push({ call, session });
      if (!hasRun(call)) continue;
      if (decided.effect === "allow") covered += 1;
      else if (decided.effect !== "ask") uncovered.push({ call, why: whyNot(decided) });
      else {
        const rules = rulesFor(call, policy.strict);
        // All of it would pass as quiet, but for what was found on the disk.
        if (rules?.length === 0) uncovered.push({ call, why: whyNot(decided) });
        else if (rules === undefined) uncovered.push({ call, why: "no rule can match only this call" });
        else needs.push({ call, session, rules });
      }
    }
  }
  const { chosen, refused } = await choose(needs, denied, () => createAllowedBy(policy));
  const asks = createAllowedBy(policy);
  const kept: Need[] = [];
  for (const need of needs) {
    const decided = await asks(need, textsOf(need, chosen));
    if (decided.effect === "allow") kept.push(need);
    else uncovered.push({ call: need.call, why: whyUncovered(need, chosen, refused) ?? whyNot(decided) });
  }
  return { rules: listed(kept, chosen), uncovered, covered };
}

/** What a person agreed to for one session is what is looked for, so it does not count as there. */
function withoutSessionRules(session: RecordedSession): RecordedSession {
  return { ...session, calls: session.calls.map((call) => ({ ...call, sessionRules: [] })) };
}

function hasRun({ outcome }: RecordedCall): boolean {
  return outcome !== undefined && outcome !== "denied" && outcome !== "not_executed" && outcome !== "cancelled";
}

/** By a person; what nobody could be asked about was not denied by anybody. */
function wasDenied({ answer }: RecordedCall): boolean {
  return answer?.decision === "deny";
}

function whyNot(decided: Redecided): string {
  if (decided.effect === "unknown") return `Harness cannot repeat the decision: ${decided.why}`;
  const { effect, by, source, why } = decided;
  return `${effect} by ${by}${source === undefined ? "" : ` (${source})`}: ${why}`;
}

/** Which rule stands for what was used: the narrow one, or that of its kind. Absent: none is suggested. */
type Chosen = Map<string, string>;
type Ask = (need: Pick<Need, "call" | "session">, added: readonly string[]) => Promise<Redecided>;

/** What the policy says of calls with these allow rules besides. With the same rules, calls are to be asked in their order. */
function createAllowedBy(policy: Policy): Ask {
  const begun = new Map<string, { backtest: Backtest; sessions: Map<RecordedSession, SessionBacktest> }>();
  const withRules = (added: readonly string[]): Backtest => {
    const rules = added.map(ruleOf).filter((rule) => rule !== undefined);
    return createBacktest({ ...policy, rules: [...policy.rules, ...rules] });
  };
  return async ({ call, session }, added) => {
    const key = JSON.stringify(added);
    const one = begun.get(key) ?? { backtest: withRules(added), sessions: new Map() };
    begun.set(key, one);
    const open = one.sessions.get(session) ?? one.backtest.begin(session);
    one.sessions.set(session, open);
    return (await open.decide(call)) ?? { effect: "unknown", why: "no decision was recorded" };
  };
}

async function choose(
  needs: readonly Need[],
  denied: readonly Pick<Need, "call" | "session">[],
  begin: () => Ask,
): Promise<{ chosen: Chosen; refused: ReadonlySet<string> }> {
  const asks = begin();
  const used = new Map(needs.flatMap(({ rules }) => rules).map((rule) => [keyOf(rule), rule]));
  const kinds = new Map<string, number>();
  for (const { wide } of used.values()) if (wide !== undefined) kinds.set(wide, (kinds.get(wide) ?? 0) + 1);
  const reached = new Map<string, boolean>();
  const reaches = async (text: string): Promise<boolean> => {
    const known = reached.get(text);
    if (known !== undefined) return known;
    let found = false;
    for (const one of denied) {
      found = (await asks(one, [text])).effect === "allow";
      if (found) break;
    }
    reached.set(text, found);
    return found;
  };
  const chosen: Chosen = new Map();
  const refused = new Set<string>();
  for (const [key, { narrow, wide }] of used) {
    const isKind = wide !== undefined && (kinds.get(wide) ?? 0) >= CASES_OF_A_KIND && !(await reaches(wide));
    if (isKind) chosen.set(key, wide);
    else if (narrow === undefined) continue;
    else if (await reaches(narrow)) refused.add(key);
    else chosen.set(key, narrow);
  }
  await keepApart(chosen, refused, { used, denied, begin });
  return { chosen, refused };
}

/** Rules that allow nothing that was denied may do so together: `a && b` by one for `a` and one for `b`. */
async function keepApart(
  chosen: Chosen,
  refused: Set<string>,
  parts: {
    readonly used: ReadonlyMap<string, UsedRule>;
    readonly denied: readonly Pick<Need, "call" | "session">[];
    readonly begin: () => Ask;
  },
): Promise<void> {
  const { used, denied, begin } = parts;
  const texts = (): readonly string[] => [...new Set(chosen.values())];
  for (const one of denied) {
    // Anew for each: with the same rules they would have to be asked in their order.
    const asks = begin();
    if ((await asks(one, [])).effect === "allow") continue;
    while ((await asks(one, texts())).effect === "allow") {
      const culprit = await neededBy(one, texts(), asks);
      for (const [key, text] of chosen) {
        if (text !== culprit) continue;
        const { narrow } = used.get(key) ?? {};
        // Of its kind only what was used, and of that nothing.
        if (narrow !== undefined && narrow !== text) chosen.set(key, narrow);
        else {
          chosen.delete(key);
          refused.add(key);
        }
      }
    }
  }
}

/** One of the rules without which the call would not be allowed; where each has a double, the first. */
async function neededBy(
  one: Pick<Need, "call" | "session">,
  texts: readonly string[],
  asks: Ask,
): Promise<string | undefined> {
  for (const text of texts) {
    const others = texts.filter((other) => other !== text);
    if ((await asks(one, others)).effect !== "allow") return text;
  }
  return texts[0];
}

function keyOf({ used, wide = "", narrow = "" }: UsedRule): string {
  return JSON.stringify([used, wide, narrow]);
}

function textsOf({ rules }: Need, chosen: Chosen): readonly string[] {
  return [...new Set(rules.flatMap((rule) => chosen.get(keyOf(rule)) ?? []))];
}

function whyUncovered({ rules }: Need, chosen: Chosen, refused: ReadonlySet<string>): string | undefined {
  const denied = rules.find((rule) => refused.has(keyOf(rule)));
  if (denied !== undefined)
    return `one answer allowed it, and another answer denied a call that ${denied.narrow ?? denied.wide} matches`;
  const isWhole = rules.every((rule) => chosen.has(keyOf(rule)));
  return isWhole ? undefined : "no rule can match only this call";
}

function listed(needs: readonly Need[], chosen: Chosen): readonly SuggestedRule[] {
  const calls = new Map<string, RecordedCall[]>();
  for (const need of needs) {
    for (const text of textsOf(need, chosen)) {
      const known = calls.get(text);
      if (known === undefined) calls.set(text, [need.call]);
      else known.push(need.call);
    }
  }
  return [...calls]
    .map(([rule, covered]) => ({ rule, calls: covered }))
    .toSorted((a, b) => b.calls.length - a.calls.length || (a.rule < b.rule ? -1 : 1))
    .slice(0, MAX_SUGGESTED);
}
