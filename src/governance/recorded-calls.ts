/**
 * The calls of a session as the log has them, with everything that a decision about them rested on. A fold over its events; decides
 * nothing, and says of each call what is missing to decide it again.
 */
import { canonicalHash, defined, hasMarker, isRecord } from "#base";
import type { HookPermission } from "#engine";
import {
  type CallId,
  type CallOutcome,
  type Event,
  type EventPayload,
  EXPIRED_CONTENT,
  type JudgedOn,
  type Label,
  type SessionId,
  type ToolClass,
} from "#protocol";
import { withEditRules } from "./edit-mode.ts";
import { MAX_SESSION_RULES } from "./permission.ts";
import { parseRule, type Rule } from "./rules.ts";

/** What was decided, and by what. */
export interface Decided {
  readonly effect: "allow" | "ask" | "deny";
  /** `rule Bash(git *)`, `quiet preset`, `tools_policy`, `hook guard`, … */
  readonly by: string;
  /** Where that is written. */
  readonly source?: string;
  readonly why: string;
}

export interface RecordedCall {
  readonly session: SessionId;
  readonly id: CallId;
  /** Canonical name. */
  readonly name: string;
  readonly label: string;
  /** Absent for a tool that was not there. */
  readonly class?: ToolClass;
  /** Those that were judged; absent when they were no object. */
  readonly args?: Readonly<Record<string, unknown>>;
  readonly startedAt: string;
  /** The absolute workspace root. */
  readonly root: string;
  /** Absent when nothing judged it, and in logs of before it was kept. */
  readonly judgedOn?: JudgedOn;
  readonly planMode: boolean;
  /** Rules that answers had added to the session. */
  readonly sessionRules: readonly Rule[];
  /** How many results of the session were there when it began. */
  readonly resultsBefore: number;
  /** What was decided at the time; absent when it ended before anything decided. */
  readonly live?: Decided;
  /** What hooks said about the permission question. */
  readonly hookSays?: HookPermission;
  /** The `tool.pre` hooks that were asked. */
  readonly hooks: readonly { readonly hook: string; readonly action: string }[];
  readonly answer?: { readonly decision: string; readonly by: string };
  /** Absent when the call was cut off. */
  readonly outcome?: CallOutcome;
  readonly reason?: string;
  /** A tool of the project had effects of its own, which are judged one by one and are not calls. */
  readonly hadInnerEffects: boolean;
  /** Why it cannot be decided again, whatever the policy. */
  readonly problem?: string;
}

export interface RecordedResult {
  readonly call: RecordedCall;
  readonly labels: readonly Label[];
  /** Secrets were taken out of its content. */
  readonly redacted: boolean;
}

export interface RecordedSession {
  readonly id: SessionId;
  readonly calls: readonly RecordedCall[];
  readonly results: readonly RecordedResult[];
}

type Draft = { -readonly [Key in keyof RecordedCall]: RecordedCall[Key] } & {
  given: unknown;
  acceptsEdits: boolean;
  argsHash?: string;
  rulesAtStart: number;
  changes: readonly RuleChange[];
};

type RuleChange = { readonly change: "added" | "revoked"; readonly rule: string };

/** Takes the events of one session in order. */
export class RecordedCalls {
  private readonly session: SessionId;
  private root: string;
  private planMode = false;
  private acceptsEdits = false;
  /** Of the rules of the session since it was opened last; each opening begins without any. */
  private changes: RuleChange[] = [];
  private readonly drafts = new Map<CallId, Draft>();
  private readonly results: { call: Draft; labels: readonly Label[]; redacted: boolean }[] = [];

  constructor(session: SessionId, workingDir: string) {
    this.session = session;
    this.root = workingDir;
  }

  add(event: Event): void {
    switch (event.kind) {
      case "SessionStarted":
        this.root = event.payload.root ?? event.payload.working_dir;
        this.changes = [];
        this.planMode = false;
        break;
      case "PlanModeChanged":
        this.planMode = event.payload.active;
        break;
      case "ModeChanged":
        if (event.payload.mode !== "plan") this.acceptsEdits = event.payload.mode === "accept-edits";
        break;
      case "ToolCallStarted":
        this.start(event.payload, event.ts);
        break;
      case "HooksAsked":
        this.hooksAsked(event.payload);
        break;
      case "CallJudged":
        this.change(event.payload.call_id, (draft) => {
          draft.live ??= decidedOf(event.payload.judged);
        });
        break;
      case "PermissionAnswered":
        this.answered(event.payload);
        break;
      case "RuleChanged":
        if (event.payload.change === "revoked") this.changes.push({ change: "revoked", rule: event.payload.rule });
        break;
      case "ToolIntent":
        this.change(event.payload.call_id, (draft) => {
          const { allowed_by, args_hash } = event.payload;
          draft.argsHash = args_hash;
          if (allowed_by !== undefined) draft.live ??= decidedOf(allowed_by);
        });
        break;
      case "ToolOutcome":
        this.change(event.payload.call_id, (draft) => {
          draft.hadInnerEffects = (event.payload.effects?.length ?? 0) > 0;
        });
        break;
      case "ToolResult":
        this.end(event.payload);
        break;
      default:
    }
  }

  /** Once all events were added. */
  finish(): RecordedSession {
    for (const draft of this.drafts.values()) complete(draft);
    return { id: this.session, calls: [...this.drafts.values()], results: this.results };
  }

  private change(id: CallId, change: (draft: Draft) => void): void {
    const draft = this.drafts.get(id);
    if (draft !== undefined) change(draft);
  }

  private start(payload: EventPayload<"ToolCallStarted">, ts: string): void {
    const { call_id, name, label, args } = payload;
    this.drafts.set(call_id, {
      session: this.session,
      id: call_id,
      name,
      label,
      ...defined({ class: payload.class }),
      startedAt: ts,
      root: this.root,
      planMode: this.planMode,
      acceptsEdits: this.acceptsEdits,
      sessionRules: [],
      resultsBefore: this.results.length,
      hooks: [],
      hadInnerEffects: false,
      given: args,
      rulesAtStart: this.changes.length,
      // The list only grows; a new one begins when the session is opened again.
      changes: this.changes,
    });
  }

  private hooksAsked({ call_id, event, decisions, blocked }: EventPayload<"HooksAsked">): void {
    if (call_id === undefined || event !== "tool.pre") return;
    this.change(call_id, (draft) => {
      draft.hooks = decisions.map(({ hook, action }) => ({ hook, action }));
      const says = decisions.filter(({ permission }) => permission !== undefined);
      // As the dispatcher has it: the first that asks counts, else the last.
      const said = says.find(({ permission }) => permission === "ask") ?? says.at(-1);
      if (said?.permission !== undefined) {
        const { hook, source, permission: effect, reason = "as recorded" } = said;
        draft.hookSays = { hook, source, effect, reason };
      }
      const last = decisions.at(-1);
      if (!blocked || last === undefined) return;
      const { hook, source, reason = "it blocks" } = last;
      draft.live ??= { effect: "deny", by: `hook ${hook}`, source, why: reason };
    });
  }

  private answered({ call_id, decision, by, rule }: EventPayload<"PermissionAnswered">): void {
    this.change(call_id, (draft) => {
      draft.answer = { decision, by };
    });
    if (rule !== undefined && decision !== "deny") this.changes.push({ change: "added", rule });
  }

  private end(payload: EventPayload<"ToolResult">): void {
    const draft = this.drafts.get(payload.call_id);
    if (draft === undefined) return;
    const { outcome, reason, judged_on, labels = [], content } = payload;
    draft.outcome = outcome;
    if (reason !== undefined) draft.reason = reason;
    if (judged_on !== undefined) draft.judgedOn = judged_on;
    const { allowed_by } = judged_on ?? {};
    if (allowed_by !== undefined) draft.live ??= { effect: "allow", ...written(allowed_by), why: "as before" };
    if (reason === "HookBlocked" && judged_on === undefined) {
      draft.live ??= { effect: "deny", by: "hook tool.pre", why: "a hook returned an invalid answer" };
    }
    const redacted = content.some((block) => block.type === "text" && hasMarker(block.text));
    this.results.push({ call: draft, labels, redacted });
  }
}

function decidedOf({ effect, by, source, why }: EventPayload<"CallJudged">["judged"]): Decided {
  return { effect, ...written({ by, source }), why };
}

function written({ by, source }: { by: string; source?: string | undefined }): Pick<Decided, "by" | "source"> {
  return source === undefined ? { by } : { by, source };
}

function complete(draft: Draft): void {
  const { given, judgedOn, argsHash } = draft;
  const args = judgedOn?.args ?? given;
  if (isRecord(args)) draft.args = args;
  const count = judgedOn === undefined ? draft.rulesAtStart : (judgedOn.rules_changed ?? 0);
  const { rules, isWhole } = rulesAfter(draft.changes, count);
  draft.sessionRules = draft.acceptsEdits ? withEditRules(rules) : rules;
  if (judgedOn !== undefined) draft.planMode = judgedOn.plan_mode === true;
  if (!isRecord(args)) draft.problem = "its arguments are not an object";
  else if (args.expired === EXPIRED_CONTENT) draft.problem = "its arguments have expired and were deleted";
  else if (!isWhole) draft.problem = "a rule of the session was redacted";
  else if (judgedOn?.unsettled === true) draft.problem = "the session got a label during the decision";
  else if (argsHash !== undefined && !isRedacted(args) && canonicalHash(args) !== argsHash) {
    draft.problem = "the recorded arguments are not the ones that ran";
  }
}

interface SessionRules {
  readonly rules: readonly Rule[];
  /** False when one of them was redacted, so that nobody knows what it allows. */
  readonly isWhole: boolean;
}

/** By list of changes and how many of them count: calls that had the same rules get the same list. */
const rulesOf = new WeakMap<readonly RuleChange[], Map<number, SessionRules>>();

function rulesAfter(changes: readonly RuleChange[], count: number): SessionRules {
  const byCount = rulesOf.get(changes) ?? new Map<number, SessionRules>();
  rulesOf.set(changes, byCount);
  const known = byCount.get(count);
  if (known !== undefined) return known;
  const texts = textsAfter(changes, count);
  const made = {
    rules: texts.flatMap((text) => (hasMarker(text) ? [] : [parseRule(text, "allow", "session")])),
    isWhole: !texts.some((text) => hasMarker(text)),
  };
  byCount.set(count, made);
  return made;
}

function textsAfter(changes: readonly RuleChange[], count: number): readonly string[] {
  const rules: string[] = [];
  let counted = 0;
  for (const { change, rule } of changes) {
    if (counted >= count) break;
    if (change === "added") {
      // Beyond the limit an answer holds for its own call only.
      if (rules.length >= MAX_SESSION_RULES) continue;
      rules.push(rule);
    } else {
      const at = rules.indexOf(rule);
      if (at >= 0) rules.splice(at, 1);
    }
    counted += 1;
  }
  return rules;
}

/** Whether something was taken out of a value before it was stored. */
export function isRedacted(value: unknown): boolean {
  if (typeof value === "string") return hasMarker(value);
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([key, field]) => hasMarker(key) || isRedacted(field));
}
