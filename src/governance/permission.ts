/**
 * Tool middleware: decides whether a call may run. Plan mode, blocked programs and deny rules refuse; allow rules and the
 * quiet preset let pass; everything else asks a person, and without one it is denied at once.
 */
import type { Approver, CallResult, EventBus, ToolCall, ToolMiddleware } from "#engine";
import { refusal } from "#engine";
import { type Decision, reasonText } from "#protocol";
import { blockedProgram, quietDecision, suggestArgvGlob } from "./quiet-preset.ts";
import { evaluateRules, parseRule, type Rule, type RuleCall, type ToolAliases } from "./rules.ts";
import { loudness } from "./shell-quiet.ts";

/** The labels that rules may use instead of canonical names. Those of the built-in tools: a foreign tool cannot add one. */
export const TOOL_ALIASES: ToolAliases = {
  Read: "fs.read",
  Write: "fs.write",
  Edit: "fs.edit",
  Ls: "fs.list",
  Glob: "fs.glob",
  Grep: "fs.search",
  Move: "fs.move",
  Remove: "fs.remove",
  Bash: "exec",
  WebFetch: "web.fetch",
  AskUser: "ask_user",
};

/** Session rules a person can add; beyond it only single answers are possible. */
const MAX_SESSION_RULES = 200;
const SUMMARY_CHARS = 2000;
/** Anywhere in a command: what follows may run in another folder, where quiet programs obey other files. */
const CHANGES_FOLDER = /\b(?:cd|pushd|popd|chdir)\b/;

export interface PermissionOptions {
  readonly bus: EventBus;
  readonly approver: Approver;
  readonly rules: readonly Rule[];
  /** The absolute workspace root. */
  readonly root: string;
  /** No quiet preset. */
  readonly strict: boolean;
  /** Answers every request with yes. Deny rules, blocked programs and plan mode still hold. */
  readonly autoApprove: boolean;
  readonly planMode: () => boolean;
}

export interface Permission {
  readonly middleware: ToolMiddleware;
  /** Rules that answers have added; they end with the session. */
  readonly sessionRules: readonly Rule[];
}

type Verdict =
  | { readonly effect: "allow" }
  | { readonly effect: "ask"; readonly why: string }
  | { readonly effect: "deny"; readonly result: CallResult };

export function createPermission(options: PermissionOptions): Permission {
  const sessionRules: Rule[] = [];

  function judge(call: ToolCall): Verdict {
    const { tool } = call;
    if (options.planMode() && tool.class !== "read_only") {
      const text = reasonText("PlanModeActive", { tool: tool.label });
      return { effect: "deny", result: refusal("denied", "PlanModeActive", text) };
    }
    const ruleCall = asRuleCall(call);
    const blocked = tool.name === "exec" ? blockedProgram(ruleCall.subject) : undefined;
    if (blocked?.effect === "deny") {
      return { effect: "deny", result: denied(call, `a built-in rule that no setting lifts: ${blocked.why}`) };
    }
    // Quiet parts of a compound command need no rule of their own, as long as they run where they seem to.
    const quietInPlace = !options.strict && call.args.cwd === undefined && !CHANGES_FOLDER.test(ruleCall.subject);
    const { effect, rule, why } = evaluateRules([...options.rules, ...sessionRules], ruleCall, TOOL_ALIASES, {
      root: options.root,
      passes: (command) => quietInPlace && loudness(command, { root: options.root }) === undefined,
    });
    if (effect === "deny")
      return { effect, result: denied(call, `${describeRule(rule)}. To allow it, change that rule`) };
    if (blocked !== undefined) return { effect: "ask", why: blocked.why };
    if (effect === "ask") return { effect, why: why ?? `${describeRule(rule)} asks` };
    if (effect === "allow") return { effect };
    if (options.strict) return { effect: "ask", why: "strict permissions: no rule allows it" };
    const quiet = quietDecision({ tool: tool.name, args: call.args }, options.root);
    if (quiet.quiet) return { effect: "allow" };
    if (tool.class === "read_only" && !isBuiltin(tool.name)) return { effect: "allow" };
    return { effect: "ask", why: quiet.why };
  }

  async function ask(call: ToolCall, why: string): Promise<CallResult | undefined> {
    const { bus, approver } = options;
    const { id: callId, turn, tool } = call;
    const rule = ruleToOffer(call);
    if (options.autoApprove) {
      await bus.publish("PermissionAnswered", { turn, call_id: callId, decision: "allow_once", by: "--auto-approve" });
      return undefined;
    }
    if (!approver.canAnswer(turn)) {
      const text = `${tool.label} was denied: ${why}, and nobody can be asked. ${howToAllow(tool.name, rule)}`;
      return refusal("denied", "PermissionDenied", text);
    }
    await bus.publish("PermissionRequested", {
      turn,
      call_id: callId,
      name: tool.name,
      label: tool.label,
      args: call.args,
      summary: summarise(call),
      reason: why,
      ...(rule === undefined ? {} : { argv_glob: rule }),
    });
    const answer = await approver.decide({ turn, callId }, call.signal);
    const text = ruleOfAnswer(answer.decision, tool.name, rule);
    const added = text === undefined ? undefined : parseRule(text, "allow", "session");
    await bus.publish("PermissionAnswered", {
      turn,
      call_id: callId,
      decision: answer.decision,
      by: answer.by,
      ...(added === undefined ? {} : { rule: added.text }),
      ...(answer.reason === undefined ? {} : { reason: answer.reason }),
    });
    if (answer.decision !== "deny") {
      if (added !== undefined && sessionRules.length < MAX_SESSION_RULES) sessionRules.push(added);
      return undefined;
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
    return refusal("denied", "PermissionDenied", `The user denied ${tool.label}: ${summarise(call)}.${because}`);
  }

  return {
    sessionRules,
    async middleware(call, next) {
      const verdict = judge(call);
      if (verdict.effect === "deny") return verdict.result;
      if (verdict.effect === "ask") {
        const refused = await ask(call, verdict.why);
        if (refused !== undefined) return refused;
      }
      return next(call);
    },
  };
}

/** The rule that an answer adds to the session, if any. */
function ruleOfAnswer(answer: Decision, tool: string, offered: string | undefined): string | undefined {
  if (answer === "allow_tool") return tool;
  return answer === "allow_argv_glob" ? offered : undefined;
}

/** A person reads this through the model: what to do so that the call passes next time. */
function howToAllow(tool: string, rule: string | undefined): string {
  if (rule !== undefined) return `The user can allow it with the rule ${rule} (--allow '${rule}').`;
  return tool === "exec"
    ? "The user can allow its commands one by one with rules; run them as separate, plain commands."
    : `The user can allow it with the rule ${tool} (--allow '${tool}').`;
}

/** What "allow this kind for the session" would add; undefined where no pattern would mean one thing only. */
function ruleToOffer(call: ToolCall): string | undefined {
  const { tool } = call;
  const { subject } = asRuleCall(call);
  if (tool.name === "exec") {
    const glob = suggestArgvGlob(subject);
    return glob === undefined ? undefined : `${tool.label}(${glob})`;
  }
  if (tool.name === "web.fetch") {
    const host = URL.canParse(subject) ? new URL(subject).hostname : undefined;
    return host === undefined ? undefined : `${tool.label}(domain:${host})`;
  }
  if (!tool.name.startsWith("fs.") || /[*?[\]{}()!\\]/.test(subject)) return undefined;
  return `${tool.label}(${subject})`;
}

function asRuleCall({ tool, args }: ToolCall): RuleCall {
  const subject = tool.subject?.(args) ?? JSON.stringify(args);
  return { tool: tool.name, label: tool.label, class: tool.class, args, subject };
}

function isBuiltin(name: string): boolean {
  return Object.values(TOOL_ALIASES).includes(name);
}

function denied(call: ToolCall, by: string): CallResult {
  return refusal("denied", "PermissionDenied", `${call.tool.label} was denied by ${by}.`);
}

function describeRule(rule: Rule | undefined): string {
  return rule === undefined ? "a rule" : `the rule '${rule.effect} ${rule.text}' (${rule.source})`;
}

/** What would run, complete enough to decide on: it is cut only when it is very long, and then says so. */
function summarise(call: ToolCall): string {
  const { subject } = asRuleCall(call);
  return subject.length <= SUMMARY_CHARS
    ? subject
    : `${subject.slice(0, SUMMARY_CHARS)}… (${subject.length - SUMMARY_CHARS} more characters)`;
}
