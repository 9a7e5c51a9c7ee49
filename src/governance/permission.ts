/**
 * Tool middleware: decides whether a call may run. Plan mode, blocked programs and deny rules refuse; allow rules and the
 * quiet preset let pass; everything else asks a person, and without one it is denied at once. Some questions only a person answers.
 */

import type { LabelRule } from "#artifacts";
import { type Clock, canonicalHash, defined } from "#base";
import type { Approver, CallResult, EventBus, Judgement, PermissionAnswer, ToolCall, ToolMiddleware } from "#engine";
import { note, refusal, ToolError } from "#engine";
import { type ApprovalId, type Decision, type EventPayload, type JudgedOn, type Label, reasonText } from "#protocol";
import { type Binding, type BindingSources, bindApproval, bindingHash, whatChanged } from "./approval-binding.ts";
import { approvalRequest, textBefore } from "./approval-request.ts";
import { confinementText, type SandboxHold } from "./confinement.ts";
import { type DiskReader, type DiskView, lookAtDisk } from "./disk-view.ts";
import { createInnerEffects, type InnerEffect, type InnerJudgement, PERSON } from "./inner-effects.ts";
import { asRuleCall, createJudge, type Judge, type JudgeOptions, LABEL_GUARD } from "./judge.ts";
import { builtinFacts, isBuiltin, isCommand } from "./known-tools.ts";
import { labelsByNature, labelsByRules } from "./labelled-content.ts";
import { ALL_LABELS, type SessionLabels } from "./labels.ts";
import { ownCommand } from "./own-command.ts";
import { howToAllow, ruleToOffer, summarise } from "./permission-words.ts";
import { lookAtOperands, lookAtRefused } from "./record-lookups.ts";
import { createRepeats, endOfLoop, withRepeats } from "./repeats.ts";
import { parseRule, type Rule } from "./rules.ts";
import { withoutQuestion } from "./unasked.ts";
import type { Verdict } from "./verdict.ts";

/** Session rules a person can add; beyond it only single answers are possible. */
export const MAX_SESSION_RULES = 200;
/** How long a yes for one call holds until the call has its first effect. */
const APPROVAL_MS = 5 * 60_000;

export interface PermissionOptions extends JudgeOptions {
  readonly bus: EventBus;
  /** To see where a path really leads before it is judged. */
  readonly files: DiskReader;
  readonly labels: SessionLabels;
  /** What the user calls private or untrusted. Asked for each effect. */
  readonly labelRules: () => readonly LabelRule[];
  readonly approver: Approver;
  /** What allowed commands reach, for people. */
  readonly network: () => string;
  /** Approves every request but those that only a person answers. Deny rules, blocked programs and plan mode still hold. */
  readonly autoApprove: boolean;
  /** What a yes is bound to. */
  readonly binding: Omit<BindingSources, "files">;
  /** How whoever started this program adds an allow rule. */
  readonly howToAddRule?: ((rule: string) => string) | undefined;
  readonly newApproval: () => ApprovalId;
  /** Where answers add rules; all agents of a tree share them. */
  readonly sessionRules?: Rule[];
  /** Who asks, when it is not the root agent. */
  readonly delegate?: EventPayload<"PermissionRequested">["delegate"];
  readonly clock: Pick<Clock, "now" | "monotonicMs">;
}

export interface Permission {
  readonly middleware: ToolMiddleware;
  /** Rules that answers have added; they end with the session. */
  readonly sessionRules: readonly Rule[];
  /** False when there is no such rule. */
  revoke(text: string): boolean;
  /**
   * Whether an effect inside an allowed call may happen: why not, or where a command runs. What nobody has judged as a call of its
   * own, because a script does it, is judged here as if it were one.
   */
  judgeEffect(call: ToolCall, effect: InnerEffect): Promise<InnerJudgement>;
  /** What is in force says about the call. Asks nobody. */
  judge(call: ToolCall): Promise<Verdict>;
  /** Whether the call is one effect, named by its tool, so that judging it has judged all it does. */
  isJudgedWhole(call: ToolCall): boolean;
}

export function createPermission(options: PermissionOptions): Permission {
  const sessionRules: Rule[] = options.sessionRules ?? [];
  /** Counts what was added to them and taken back. */
  let rulesChanged = 0;
  const repeats = createRepeats();
  const sources: BindingSources = { ...options.binding, files: options.files };
  const judge: Judge = createJudge({ ...options, rules: () => [...options.rules(), ...sessionRules] });

  const judgeInner = createInnerEffects(judge, options.files);

  /** Who approved it and what they approved, or the refusal. */
  async function ask(call: ToolCall, { judged, personOnly }: Question): Promise<CallResult | Yes> {
    const { bus, approver } = options;
    const { id: callId, turn, tool } = call;
    const { why } = judged;
    // A rule without them would not hold once the session holds both, and the question would come again.
    const labelled = judged.by === LABEL_GUARD ? `[${ALL_LABELS.join()}]` : "";
    const offered = personOnly === undefined ? ruleToOffer(call, judged) : undefined;
    const rule = offered === undefined ? undefined : `${offered}${labelled}`;
    if (options.autoApprove && personOnly === undefined) {
      await bus.publish("PermissionAnswered", { turn, call_id: callId, decision: "allow_once", by: "--auto-approve" });
      return { yesBy: "--auto-approve" };
    }
    if (!approver.canAnswer(turn)) {
      const remedy = personOnly?.remedy ?? howToAllow(tool.name, rule, judged, options.howToAddRule);
      const text = `${tool.label} was denied: ${why}, and nobody can be asked. ${remedy}`;
      return refusal("denied", "PermissionDenied", text);
    }
    // Taken before the question goes out: what is shown is what is bound.
    const binding = await bindApproval(call, sources);
    // Waits before it is told: whoever is told may answer at once.
    const untold = new AbortController();
    const answered = approver.decide({ turn, callId }, AbortSignal.any([call.signal, untold.signal]));
    try {
      await bus.publish("PermissionRequested", {
        turn,
        call_id: callId,
        name: tool.name,
        label: tool.label,
        args: call.args,
        summary: summarise(call),
        reason: why,
        ...approvalRequest(call, options.clock.now() + approver.timeoutMs),
        ...defined({ argv_glob: rule, delegate: options.delegate, before: await before(call) }),
        ...(personOnly === undefined ? { tool_rule: `${tool.name}${labelled}` } : { offers: ["allow_once", "deny"] }),
        ...(personOnly?.steering === undefined ? {} : { steering: [...personOnly.steering] }),
        ...(await confinementOf(judged)),
      });
    } catch (error) {
      untold.abort();
      (await answered).onRecord?.(Promise.reject(error));
      throw error;
    }
    const given = await answered;
    // Any approval of such a question is for this one call.
    const isOnce = personOnly !== undefined && YES.has(given.decision);
    const answer = isOnce ? { ...given, decision: "allow_once" as const } : given;
    // On the monotonic clock: a wall clock that steps neither ends an approval nor prolongs it.
    const expiresMs = options.clock.monotonicMs() + APPROVAL_MS;
    const text = ruleOfAnswer(answer.decision, `${tool.name}${labelled}`, rule);
    const recorded = recordAnswer(call, answer, text, binding);
    given.onRecord?.(recorded.then(() => undefined));
    const added = await recorded;
    if (YES.has(answer.decision)) {
      const { args, by } = answer;
      const again = (changed: ToolCall): Promise<void> => recheck(changed, binding, expiresMs);
      if (args !== undefined) return { ...notYet, changed: { args, by, why: asReason(judged), recheck: again } };
      if (added !== undefined) {
        sessionRules.push(added);
        rulesChanged += 1;
      }
      return { yesBy: answer.by, recheck: () => recheck(call, binding, expiresMs) };
    }
    if (call.signal.aborted) return refusal("cancelled", "Cancelled", `${tool.label} was cancelled.`);
    if (answer.unanswered === "timeout") {
      return refusal(
        "denied",
        "PermissionTimeout",
        reasonText("PermissionTimeout", { tool: tool.label, timeout: Math.round(approver.timeoutMs / 1000) }),
      );
    }
    const because = answer.reason === undefined ? "" : ` They said: ${answer.reason}`;
    const denied = reasonText("PermissionDenied", { tool: tool.label, client: answer.by });
    return refusal("denied", "PermissionDenied", `${denied} The call was: ${summarise(call)}.${because}`);
  }

  /** The rule that the answer has added. */
  async function recordAnswer(
    { turn, id: call_id }: ToolCall,
    { decision, by, reason, args }: PermissionAnswer,
    rule: string | undefined,
    binding: Binding,
  ): Promise<Rule | undefined> {
    const isFull = sessionRules.length >= MAX_SESSION_RULES;
    const added = rule === undefined || isFull ? undefined : parseRule(rule, "allow", "session");
    await options.bus.publish("PermissionAnswered", {
      turn,
      call_id,
      decision,
      by,
      ...defined({ rule: added?.text, reason, args: args && { ...args } }),
      ...approvalRecord(decision, binding, options.clock.now() + APPROVAL_MS, options.newApproval),
    });
    return added;
  }

  /** Shown to whoever decides, and only what the agent could read as well. */
  async function before(call: ToolCall): Promise<string | undefined> {
    if (call.tool.name !== "fs.write" && call.tool.name !== "fs.edit") return undefined;
    const tool = { ...call.tool, ...builtinFacts("fs.read") };
    const { effect } = await judge.judge({ ...call, tool, args: { path: call.args.path } }, lookAtDisk(options.files));
    return effect === "allow" ? textBefore(options.files, String(call.args.path)) : undefined;
  }

  /** What makes the call pass next time. */
  function remedyFor(call: ToolCall, verdict: Verdict): string {
    const { judged } = verdict;
    if (verdict.effect === "ask" && verdict.personOnly !== undefined) return verdict.personOnly.remedy;
    return howToAllow(call.tool.name, ruleToOffer(call, judged), judged, options.howToAddRule);
  }

  async function confinementOf(
    judged: Judgement,
  ): Promise<Pick<EventPayload<"PermissionRequested">, "confinement" | "confinement_text">> {
    if (judged.confinement === undefined) return {};
    const text = confinementText(judged, await options.hold(), options.network());
    return { confinement: judged.confinement, ...defined({ confinement_text: text }) };
  }

  async function recheck(call: ToolCall, binding: Binding, expiresMs: number): Promise<void> {
    // Written so that a clock that gives nonsense is late.
    const isLate = !(options.clock.monotonicMs() <= expiresMs);
    const changed = isLate ? "the approval has expired" : await whatChanged(binding, call, sources);
    if (changed === undefined) return;
    throw new ToolError(reasonText("ApprovalVoid", { tool: call.tool.label, changed }), "ApprovalVoid");
  }

  interface Circumstances {
    readonly hold: SandboxHold;
    readonly labels: readonly Label[];
    readonly rulesChanged: number;
    readonly planMode: boolean;
  }

  async function circumstances({ tool }: ToolCall): Promise<Circumstances> {
    const hold = isCommand(tool.name) ? await options.hold() : "sandbox";
    return { hold, labels: options.labels.held(), rulesChanged, planMode: options.planMode() };
  }

  function whatItRestedOn(
    call: ToolCall,
    disk: DiskView,
    before: Circumstances,
    { repeated, isSettled }: { repeated: boolean; isSettled: boolean },
  ): JudgedOn {
    const { hold, labels, planMode } = before;
    const { tool, args, isRewritten } = call;
    return {
      ...disk.found(),
      ...(labels.length === 0 ? {} : { labels: [...labels] }),
      ...(planMode ? { plan_mode: true } : {}),
      ...(hold === "sandbox" ? {} : { sandbox: hold }),
      ...(repeated ? { repeated } : {}),
      ...defined({ own_command: call.allowedBy }),
      ...(before.rulesChanged === 0 ? {} : { rules_changed: before.rulesChanged }),
      ...(isRewritten === true ? { args } : {}),
      ...(tool.subject === undefined || isBuiltin(tool.name) ? {} : { subject: tool.subject(args) }),
      ...(isSettled ? {} : { unsettled: true }),
    };
  }

  /** A call that does not simply run: refused, or somebody is asked. */
  async function settle(
    call: ToolCall,
    verdict: Exclude<Verdict, { effect: "allow" }>,
    next: (call: ToolCall) => Promise<CallResult>,
  ): Promise<CallResult> {
    const { turn, step, id: call_id, tool } = call;
    const { steering: _, ...judged } = verdict.judged;
    const recorded = { ...judged, trail: [...judged.trail] };
    note(options.bus, "CallJudged", { turn, step, call_id, name: tool.name, judged: recorded });
    if (verdict.effect === "deny") return verdict.result;
    const answer = changedAndAllowed(call, verdict) ?? (await ask(call, verdict));
    if (!("yesBy" in answer)) return answer;
    const refused = judge.refusedBy(call);
    if (refused !== undefined) return refused.result;
    repeats.forgive();
    const { yesBy } = answer;
    const said = { stage: "answer", name: "yes", source: yesBy, effect: "allow" };
    const allowed: Judgement = {
      effect: "allow",
      by: yesBy === "--auto-approve" ? yesBy : PERSON,
      source: yesBy,
      why: `${yesBy} allowed it`,
      trail: [...verdict.judged.trail, said],
      ...confinementAfterAnswer(verdict),
      ...defined({ recheck: answer.recheck }),
    };
    return next({ ...call, judged: allowed });
  }

  return {
    sessionRules,
    revoke(text) {
      const at = sessionRules.findIndex((rule) => rule.text === text);
      if (at < 0) return false;
      sessionRules.splice(at, 1);
      rulesChanged += 1;
      return true;
    },
    async middleware(call, next) {
      const disk = lookAtDisk(options.files);
      await lookAtOperands(call, disk);
      const before = await circumstances(call);
      const judgement = await judge.judge(call, disk);
      // Labels never come off, so the same number is the same labels.
      const isSettled = options.labels.held().length === before.labels.length;
      const loop = isAsking(call) || call.unasked !== undefined ? undefined : repeats.seen(call);
      if (judgement.effect === "deny") await lookAtRefused(call, disk);
      const judgedOn = whatItRestedOn(call, disk, before, { repeated: loop !== undefined, isSettled });
      const isAlone = (): boolean => options.autoApprove || !options.approver.canAnswer(call.turn);
      const looped = loop?.again === true && isAlone() ? endOfLoop(judgement, loop) : withRepeats(judgement, loop?.why);
      const unasked = withoutQuestion(call, looped, () => remedyFor(call, looped));
      const verdict = ownCommand(call, unasked, before);
      if (verdict.effect !== "allow") return { ...(await settle(call, verdict, next)), judgedOn };
      const result = await next({ ...call, judged: verdict.judged });
      if (result.memoized !== true) return { ...result, judgedOn };
      // It has no intent of its own that would say so.
      const { by, source } = verdict.judged;
      return { ...result, judgedOn: { ...judgedOn, allowed_by: { by, ...defined({ source }) } } };
    },
    judge: (call) => judge.judge(call, lookAtDisk(options.files)),
    isJudgedWhole: (call) => isBuiltin(call.tool.name),
    async judgeEffect(call, effect) {
      const judged = await judgeInner(call, effect);
      if ("refused" in judged) return judged;
      const as = asRuleCall({ ...call, tool: builtinFacts(effect.tool), args: effect.args });
      const disk = lookAtDisk(options.files);
      const found = [...(await labelsByNature(as, disk)), ...(await labelsByRules(as, options.labelRules(), disk))];
      for (const label of found) options.labels.add(label, call.tool.name, call.id);
      return judged;
    },
  };
}

/** Polling the progress of a task does not count as a loop. */
function isAsking({ tool }: ToolCall): boolean {
  return tool.relays === true && tool.class === "read_only";
}

type Question = Extract<Verdict, { effect: "ask" }>;

/** Somebody was asked, so it is not a command that nobody was asked about. */
function confinementAfterAnswer({ judged, personOnly }: Question): Pick<Judgement, "confinement" | "steering"> {
  const { confinement } = judged;
  if (confinement === undefined) return {};
  const steering = personOnly?.steering;
  return { confinement: confinement === "reader" ? "workspace" : confinement, ...(steering && { steering }) };
}

const notYet = refusal("not_executed", "NotExecuted", "A person changed the call.");

/** What the question was about besides the arguments. */
function asReason({ why, steering = [] }: Judgement): string {
  return [why, ...steering].join("\n");
}

/** Undefined: it is not the call that a person has changed and allowed, or there is another reason to ask now. */
function changedAndAllowed(call: ToolCall, { judged }: Question): Yes | undefined {
  const { approvedChange: change } = call;
  if (change === undefined || change.why !== asReason(judged)) return undefined;
  // A hook may have changed it once more.
  if (canonicalHash(call.args) !== canonicalHash(change.args)) return undefined;
  return { yesBy: change.by, recheck: () => change.recheck(call) };
}

interface Yes {
  readonly yesBy: string;
  readonly recheck?: () => Promise<void>;
}

function approvalRecord(
  decision: Decision,
  binding: Binding,
  expiresAtMs: number,
  newApproval: () => ApprovalId,
): Pick<EventPayload<"PermissionAnswered">, "approval"> {
  if (!YES.has(decision)) return {};
  const scope = decision === "allow_once" ? "call" : decision === "allow_tool" ? "tool" : "argv_glob";
  const expires_at = new Date(expiresAtMs).toISOString();
  return { approval: { id: newApproval(), scope, expires_at, bound_to: bindingHash(binding) } };
}

/** Anything else, also what is no answer at all, is a no. */
const YES: ReadonlySet<Decision> = new Set(["allow_once", "allow_argv_glob", "allow_tool"]);

/** The rule that an answer adds to the session, if any. */
function ruleOfAnswer(answer: Decision, tool: string, offered: string | undefined): string | undefined {
  if (answer === "allow_tool") return tool;
  return answer === "allow_argv_glob" ? offered : undefined;
}
