/**
 * What a policy says of calls that are on the record: the judge of sessions itself, on recorded facts. Runs nothing, asks nobody and
 * looks at no disk; what depends on something that was not recorded is `unknown`, with what is missing, and never guessed.
 */

import { toolVisible } from "#artifacts";
import { defined } from "#base";
import { ToolError } from "#engine";
import type { Label } from "#protocol";
import { factsOf, type ToolKind } from "#tools";
import type { SandboxHold } from "./confinement.ts";
import { type DiskView, NotOnRecord, recordedPath, rememberedDisk } from "./disk-view.ts";
import { asRuleCall, createJudge, type JudgedCall } from "./judge.ts";
import { isBuiltin, isCommand, isFileTool, kindOf, namedPaths } from "./known-tools.ts";
import { labelsByNature, labelsByRules } from "./labelled-content.ts";
import { ALL_LABELS } from "./labels.ts";
import { ownCommand } from "./own-command.ts";
import type { Policy } from "./policy.ts";
import {
  type Decided,
  isRedacted,
  type RecordedCall,
  type RecordedResult,
  type RecordedSession,
} from "./recorded-calls.ts";
import { REPEATED, withRepeats } from "./repeats.ts";
import { namesTool, type Rule } from "./rules.ts";
import type { Verdict } from "./verdict.ts";

/** Decisions that are kept for calls that come again. */
const MAX_DECISIONS = 20_000;
/** Tools whose visibility is kept. */
const MAX_TOOLS = 1000;

export interface Unknown {
  readonly effect: "unknown";
  /** What is missing. */
  readonly why: string;
}

export type Redecided = Decided | Unknown;

export interface SessionBacktest {
  /** To be asked call by call, in the order of the session. Undefined for a call that ended before anything decided about it. */
  decide(call: RecordedCall): Promise<Redecided | undefined>;
}

export interface Backtest {
  begin(session: RecordedSession): SessionBacktest;
}

export function createBacktest(policy: Policy): Backtest {
  // The same list for the same rules: what is worked out for a list is kept with it.
  const lists = new WeakMap<readonly Rule[], readonly Rule[]>();
  function withSessionRules(added: readonly Rule[]): readonly Rule[] {
    if (added.length === 0) return policy.rules;
    const rules = lists.get(added) ?? [...policy.rules, ...added];
    lists.set(added, rules);
    return rules;
  }

  const numbers = new WeakMap<readonly Rule[], number>();
  let lastNumber = 0;
  function listNumber(added: readonly Rule[]): number {
    if (added.length === 0) return 0;
    const number = numbers.get(added) ?? ++lastNumber;
    numbers.set(added, number);
    return number;
  }
  const decisions = new Map<string, Redecided>();
  const visibility = new Map<string, ReturnType<typeof toolVisible>>();
  function visibleTool(name: string): ReturnType<typeof toolVisible> {
    const known = visibility.get(name) ?? toolVisible(policy.toolsPolicies, name);
    if (visibility.size < MAX_TOOLS) visibility.set(name, known);
    return known;
  }

  return {
    begin(session) {
      const labels = createLabelHistory(policy, session);
      // What the judge asks about the call that is being decided.
      let current: { call: RecordedCall; held: readonly Label[] } | undefined;
      const at = (): NonNullable<typeof current> => {
        if (current === undefined) throw new Error("no call is being decided");
        return current;
      };
      const judges = new Map<string, ReturnType<typeof createJudge>>();
      const judgeIn = (root: string) => {
        const known = judges.get(root);
        if (known !== undefined) return known;
        const made = createJudge({
          rules: () => withSessionRules(at().call.sessionRules),
          root,
          strict: () => policy.strict,
          planMode: () => at().call.planMode,
          labels: { held: () => at().held, origin: () => "earlier in this session" },
          isOffline: () => policy.isOffline,
          hold: async () => sandboxOf(at().call),
          // On the record, as what was found on the disk.
          namedByGit: async () => [],
        });
        judges.set(root, made);
        return made;
      };

      /** The same call in the same circumstances is decided once. */
      async function judged(call: RecordedCall, facts: CallFacts, held: readonly Label[]): Promise<Redecided> {
        const key = `${listNumber(call.sessionRules)} ${held.join()} ${facts.key}`;
        const known = decisions.get(key);
        if (known !== undefined) return known;
        const made = await judge(call, facts.as, held);
        if (decisions.size >= MAX_DECISIONS) decisions.clear();
        decisions.set(key, made);
        return made;
      }

      async function judge(call: RecordedCall, as: JudgedCall, held: readonly Label[]): Promise<Redecided> {
        current = { call, held };
        try {
          const verdict = await judgeIn(call.root).judge(as, rememberedDisk(call.root, call.judgedOn));
          const looped = withRepeats(verdict, hasRepeated(call) ? REPEATED : undefined);
          return decidedOf(ownCommand(ownFacts(call), looped, { hold: sandboxOf(call), planMode: call.planMode }));
        } catch (error) {
          if (error instanceof NotOnRecord) return unknown(error.message);
          // Nobody had checked them: the tool was hidden.
          if (error instanceof ToolError) return unknown("its arguments do not match the tool's schema");
          throw error;
        }
      }

      return {
        async decide(call) {
          if (call.live === undefined) return undefined;
          const visible = visibleTool(call.name);
          if (!visible.allowed) {
            return { effect: "deny", by: "tools_policy", source: visible.source, why: visible.why };
          }
          // Hooks are scripts, which may look at anything: what they answered is a fact of the record. One that only had a say in the
          // permission question is asked as it answered then.
          // What a skill limited is what its text asked for, not the policy.
          if (/^(?:hook|skill) /.test(call.live.by) && call.live.effect === "deny") return call.live;
          // The end of a loop says nothing about the policy.
          if (call.live.by === "repeated calls" && call.live.effect === "deny") return call.live;
          const wasHidden = call.live.by === "tools_policy";
          if (wasHidden && policy.hooks.size > 0) return unknown("its hooks did not run, because the tool was hidden");
          if (call.problem !== undefined) return unknown(call.problem);
          const facts = factsAbout(call);
          if (facts === undefined) return unknown("the log does not say what class the tool had");
          if (facts.isRedacted && dependsOnText(policy, call, facts.as)) {
            return unknown("the decision depends on an argument that was redacted");
          }
          const { held, doubtful } = await labels.at(call);
          const decided = await judged(call, facts, held);
          if (doubtful.length === 0) return decided;
          const otherwise = await judged(
            call,
            facts,
            ALL_LABELS.filter((one) => held.includes(one) || doubtful.includes(one)),
          );
          if (isSame(decided, otherwise)) return decided;
          return unknown(`the log does not say why the session contained ${doubtful.join(" and ")} content`);
        },
      };
    },
  };
}

/** The same effect, for the same reason. */
export function isSame(a: Redecided, b: Redecided): boolean {
  if (a.effect === "unknown" || b.effect === "unknown") return a.effect === b.effect;
  return a.effect === b.effect && a.by === b.by && a.source === b.source;
}

function unknown(why: string): Unknown {
  return { effect: "unknown", why };
}

function decidedOf({ judged: { effect, by, source, why } }: Verdict): Decided {
  return { effect, by, ...defined({ source }), why };
}

function sandboxOf({ judgedOn }: RecordedCall): SandboxHold {
  return judgedOn?.sandbox ?? "sandbox";
}

function ownFacts({ judgedOn: { own_command: allowedBy, args } = {} }: RecordedCall) {
  return { ...defined({ allowedBy }), isRewritten: args !== undefined };
}

/** Logs from before facts were kept say it where it decided. */
function hasRepeated({ judgedOn, live }: RecordedCall): boolean {
  return judgedOn?.repeated === true || live?.by === "repeated calls";
}

/** Of a tool that is not built in the record says what it is. */
function asJudged(call: RecordedCall): JudgedCall | undefined {
  const { name, label, args = {}, judgedOn, hookSays } = call;
  const known = factsOf(name);
  if (known !== undefined) return { tool: known, args, ...defined({ hookSays }) };
  if (call.class === undefined) return undefined;
  const { subject } = judgedOn ?? {};
  return {
    tool: { name, label, class: call.class, ...(subject === undefined ? {} : { subject: () => subject }) },
    args,
    ...defined({ hookSays }),
  };
}

/** What of a call is the same under every policy. */
interface CallFacts {
  readonly as: JudgedCall;
  /** Of what a decision looks at. */
  readonly isRedacted: boolean;
  /** Names the call and what its decision rested on, labels and rules of the session aside. */
  readonly key: string;
}

/** Worked out once for all policies that a call is held against; follows from the call and the built-in tools alone. */
const keptFacts = new WeakMap<RecordedCall, CallFacts>();

function factsAbout(call: RecordedCall): CallFacts | undefined {
  const known = keptFacts.get(call);
  if (known !== undefined) return known;
  const as = asJudged(call);
  if (as === undefined) return undefined;
  const { root, planMode, judgedOn } = call;
  const { paths, looks, subject } = judgedOn ?? {};
  const { name, label, class: toolClass } = as.tool;
  const said = [hasRepeated(call), as.hookSays, judgedOn?.own_command, judgedOn?.sandbox];
  const about = [name, label, toolClass, subject, as.args, root, planMode, paths, looks, ...said];
  const made = { as, isRedacted: isRedacted(consulted(as)), key: JSON.stringify(about) };
  keptFacts.set(call, made);
  return made;
}

/** What a decision looks at: of a tool that changes a file the path, not the text. */
function consulted({ tool, args }: JudgedCall): unknown {
  if (kindOf(tool.name) === "fetch") return args.url;
  return kindOf(tool.name) === "change" ? namedPaths(tool.name, args) : args;
}

/** Whether what stands where the marker is now could have made a difference. */
function dependsOnText(policy: Policy, call: RecordedCall, { tool }: JudgedCall): boolean {
  if (call.planMode && tool.class !== "read_only" && !isCommand(tool.name)) return false;
  const relevant = policy.rules.filter((rule) => namesTool(rule, { tool: tool.name, label: tool.label }));
  const denies = relevant.find(({ effect }) => effect === "deny");
  if (denies !== undefined && denies.pattern === undefined && denies.labels === undefined) return false;
  if (isCommand(tool.name) || isFileTool(tool.name)) return true;
  return [...relevant, ...call.sessionRules].some(({ pattern }) => pattern !== undefined);
}

const READS_MANY: ReadonlySet<ToolKind> = new Set(["command", "search"]);

/** Where names led at the time, as far as somebody asked; what lay below folders was not asked for labels. */
function diskOfResult({ root, judgedOn }: RecordedCall): DiskView {
  return {
    root,
    locate: async (path) => recordedPath(judgedOn, path, root) ?? path,
    finding: async () => undefined,
    found: () => undefined,
  };
}

interface LabelHistory {
  /** `doubtful`: held at the time, and it is unclear whether this policy would have had the session hold them. */
  at(call: RecordedCall): Promise<{ readonly held: readonly Label[]; readonly doubtful: readonly Label[] }>;
}

/** Which labels a session would have held under this policy: its own rules for labels may differ from those of the time. */
function createLabelHistory(policy: Policy, { results }: RecordedSession): LabelHistory {
  const byNature = new Set<Label>();
  const byPolicy = new Set<Label>();
  /** Given by rules of the time. */
  const byOthers = new Set<Label>();
  const unclear = new Set<Label>();
  let seen = 0;

  async function see({ call, labels, redacted }: RecordedResult): Promise<void> {
    if (call.live === undefined || call.outcome === "denied" || call.outcome === "not_executed") return;
    const as = labels.length === 0 && policy.labelRules.length === 0 ? undefined : asJudged(call);
    if (as === undefined) return;
    const ruleCall = asRuleCall(as);
    const disk = diskOfResult(call);
    const natural: readonly Label[] = [
      ...(await labelsByNature(ruleCall, disk)),
      ...(redacted ? (["private"] as const) : []),
    ];
    for (const label of labels) {
      if (natural.includes(label)) byNature.add(label);
      // From what a script did, from files below a folder or from those that a search has shown: none of that is on the record.
      else (isBuiltin(call.name) && !READS_MANY.has(kindOf(call.name)) ? byOthers : unclear).add(label);
    }
    for (const label of await labelsByRules(ruleCall, policy.labelRules, disk)) byPolicy.add(label);
  }

  return {
    async at(call) {
      for (; seen < call.resultsBefore; seen++) {
        const result = results[seen];
        if (result !== undefined) await see(result);
      }
      const wasHeld = (label: Label): boolean =>
        call.judgedOn === undefined
          ? byNature.has(label) || byOthers.has(label) || unclear.has(label)
          : (call.judgedOn.labels ?? []).includes(label);
      const held: Label[] = [];
      const doubtful: Label[] = [];
      for (const label of ALL_LABELS) {
        if (byPolicy.has(label)) held.push(label);
        else if (!wasHeld(label)) continue;
        else if (byNature.has(label)) held.push(label);
        else if (unclear.has(label)) doubtful.push(label);
        // From before the session was opened, or from a call that ran beside this one.
        else if (!byOthers.has(label)) held.push(label);
      }
      return { held, doubtful };
    },
  };
}

/**
 * Names everything in a policy that can decide about calls of a tool; two policies with the same name decide alike. With `places`,
 * also where it is written: then their decisions are the same ones.
 */
export function createFingerprints(
  policy: Policy,
  places = false,
): (call: Pick<RecordedCall, "name" | "label">) => string {
  const { strict, isOffline, toolsPolicies, labelRules, hooks } = policy;
  const known = new Map<string, string>();
  const labelled = labelRules.map(({ label, rule }) => [label, rule]);
  return ({ name, label }) => {
    const key = `${name} ${label}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    // Rules about files hold for commands, too.
    const relevant = policy.rules.filter(
      (rule) => namesTool(rule, { tool: name, label }) || (isCommand(name) && rule.effect !== "allow"),
    );
    const rules = relevant.map(({ effect, text, source }) => [effect, text, places ? source : ""]);
    const visible = toolVisible(toolsPolicies, name);
    const seen = places ? [visible, hooks.size > 0] : [visible.allowed];
    const made = JSON.stringify([seen, strict, isOffline, labelled, rules]);
    known.set(key, made);
    return made;
  };
}
