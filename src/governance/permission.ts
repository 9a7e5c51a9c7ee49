/**
 * Tool middleware: decides whether a call may run. Plan mode, blocked programs and deny rules refuse; allow rules and the
 * quiet preset let pass; everything else asks a person, and without one it is denied at once.
 */
import type { Approver, CallResult, EventBus, Judgement, Tool, ToolCall, ToolMiddleware } from "#engine";
import { refusal, ToolError } from "#engine";
import { type ApprovalId, type Decision, type EventPayload, reasonText } from "#protocol";
import { type Binding, type BindingSources, bindApproval, bindingHash, whatChanged } from "./approval-binding.ts";
import { judgeFileRules } from "./file-rules.ts";
import { type DiskReader, locatedArguments, loudOnDisk } from "./on-disk.ts";
import { blockedProgram, QUIET_RULE, quietDecision, suggestArgvGlob } from "./quiet-preset.ts";
import { createRepeats } from "./repeats.ts";
import { evaluateRules, parseRule, type Rule, type RuleCall, type RuleVerdict, type ToolAliases } from "./rules.ts";
import { isSensitivePath } from "./sensitive-paths.ts";
import { analyseShell } from "./shell.ts";
import type { SimpleCommand } from "./shell-command.ts";
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
/** How long a yes for one call holds until the call has its first effect. */
const APPROVAL_MS = 5 * 60_000;
/** Longest path or glob that is judged; matching longer ones could take long. */
const MAX_NAME_CHARS = 4096;
const NAMES: ReadonlySet<string> = new Set(["path", "from", "to", "glob", "pattern"]);
/** Anywhere in a command: what follows may run in another folder, where quiet programs obey other files. */
const CHANGES_FOLDER = /\b(?:cd|pushd|popd|chdir)\b/;

export interface PermissionOptions {
  readonly bus: EventBus;
  readonly approver: Approver;
  /** Asked for each call: a project may change them between steps. */
  readonly rules: () => readonly Rule[];
  /** The absolute workspace root. */
  readonly root: string;
  /** To see where a path really leads before it is judged. */
  readonly files: DiskReader;
  /** No quiet preset. Asked for each call. */
  readonly strict: () => boolean;
  /** Answers every request with yes. Deny rules, blocked programs and plan mode still hold. */
  readonly autoApprove: boolean;
  readonly planMode: () => boolean;
  /** What a yes is bound to. */
  readonly binding: Omit<BindingSources, "files">;
  readonly newApproval: () => ApprovalId;
  /** Wall time in milliseconds. */
  readonly now: () => number;
}

export interface Permission {
  readonly middleware: ToolMiddleware;
  /** Rules that answers have added; they end with the session. */
  readonly sessionRules: readonly Rule[];
  /** False when there is no such rule. */
  revoke(text: string): boolean;
  /**
   * Whether an effect inside an allowed call may happen: why not, or undefined. What nobody has judged as a call of its own,
   * because a script does it, is judged here as if it were one.
   */
  judgeEffect(call: ToolCall, effect: InnerEffect): Promise<string | undefined>;
  /** Whether the call is one effect, named by its tool, so that judging it has judged all it does. */
  isJudgedWhole(call: ToolCall): boolean;
}

/** An effect that a tool other than the built-in one wants to have, named as the built-in tool that would have it. */
export interface InnerEffect {
  readonly tool: "exec" | "fs.read" | "fs.list" | "fs.write" | "fs.move" | "fs.remove" | "web.fetch";
  readonly args: Readonly<Record<string, unknown>>;
}

type Verdict =
  /** `quiet`: commands that no rule allows and that pass because they only read; still to be looked up on the disk. */
  | { readonly effect: "allow"; readonly judged: Judgement; readonly quiet: readonly SimpleCommand[] }
  | { readonly effect: "ask"; readonly judged: Judgement }
  | { readonly effect: "deny"; readonly judged: Judgement; readonly result: CallResult };

interface Evaluation extends RuleVerdict {
  readonly quietParts: readonly SimpleCommand[];
}

export function createPermission(options: PermissionOptions): Permission {
  const sessionRules: Rule[] = [];
  const repeats = createRepeats();
  const sources: BindingSources = { ...options.binding, files: options.files };

  /** What can refuse a call whatever anybody answers. Asked again after a question: things change while it waits. */
  function refusedBy(call: ToolCall): Extract<Verdict, { effect: "deny" }> | undefined {
    const { tool } = call;
    if (options.planMode() && tool.class !== "read_only") {
      const why = reasonText("PlanModeActive", { tool: tool.label });
      return deny({ by: "plan mode", why }, refusal("denied", "PlanModeActive", why));
    }
    const blocked = tool.name === "exec" ? blockedProgram(asRuleCall(call).subject) : undefined;
    return blocked?.effect === "deny" ? deniedByBuiltin(call, blocked.why) : undefined;
  }

  function evaluate(call: ToolCall): Evaluation {
    const ruleCall = asRuleCall(call);
    const elsewhere = isElsewhere(call);
    // What a pattern allows, and what is quiet, is meant for the workspace root.
    const rules = [...options.rules(), ...sessionRules].filter(
      (rule) => !elsewhere || rule.effect !== "allow" || rule.pattern === undefined,
    );
    const quietParts: SimpleCommand[] = [];
    const verdict = evaluateRules(rules, ruleCall, TOOL_ALIASES, {
      root: options.root,
      // Quiet parts of a compound command need no rule of their own.
      passes(command) {
        const isQuiet = !options.strict() && !elsewhere && loudness(command, { root: options.root }) === undefined;
        if (isQuiet) quietParts.push(command);
        return isQuiet;
      },
    });
    return { ...verdict, quietParts };
  }

  async function judge(call: ToolCall): Promise<Verdict> {
    const { tool } = call;
    const refused = refusedBy(call);
    if (refused !== undefined) return refused;
    const tooLong = Object.entries(call.args).find(([name, value]) => NAMES.has(name) && isTooLong(value));
    if (tooLong !== undefined && tool.name.startsWith("fs.")) {
      const why = `${tooLong[0]} is longer than ${MAX_NAME_CHARS} characters.`;
      return deny({ by: "built-in rule", why }, refusal("error", "InvalidArguments", why));
    }
    const written = decide(call, evaluate(call));
    if (written.effect === "deny") return written;
    if (tool.name.startsWith("fs.")) {
      const args = await locatedArguments(call.args, options.files);
      if (args === undefined) {
        const why = `the path is outside the workspace ${options.root}, which tools cannot leave`;
        const text = `${tool.label} was denied: ${why}. Start harness with --cwd there.`;
        return deny({ by: "built-in rule", why }, refusal("denied", "PermissionDenied", text));
      }
      if (tool.class === "mutating" && [args.path, args.from, args.to].some(isOwnRecord)) {
        return deniedByBuiltin(call, "it is the session's own record");
      }
      if (Object.entries(args).every(([name, value]) => call.args[name] === value)) return written;
      // A link must not make a rule or the list of sensitive files mean something else.
      return strictest(written, decide({ ...call, args }, evaluate({ ...call, args })));
    }
    if (tool.name === "exec") {
      const about = await fileRules(call);
      if (about !== undefined) return about.effect === "deny" ? about : strictest(written, about);
    }
    if (written.effect !== "allow") return written;
    const why = await loudOnDisk(written.quiet, options.files, cwdOf(call));
    if (why === undefined) return written;
    return { effect: "ask", judged: { ...written.judged, effect: "ask", why: `${why} (${QUIET_RULE})` } };
  }

  /** A rule about a file holds for commands that read or change it, too. */
  async function fileRules(call: ToolCall): Promise<Verdict | undefined> {
    const { files } = options;
    const rules = [...options.rules(), ...sessionRules];
    const about = { rules, aliases: TOOL_ALIASES, files, cwd: cwdOf(call) };
    const verdict = await judgeFileRules(asRuleCall(call).subject, about);
    if (verdict === undefined) return undefined;
    const { effect, rule, why } = verdict;
    const consulted = {
      stage: "rule",
      name: rule?.text ?? "file rules",
      source: rule?.source ?? "built-in",
      effect,
    };
    const judged: Judgement = {
      effect,
      by: `rule ${consulted.name}`,
      source: consulted.source,
      why,
      trail: [consulted],
    };
    if (effect !== "deny") return { effect: "ask", judged };
    const by = `${describeRule(rule)}: ${why}. To allow it, change that rule`;
    return { effect: "deny", judged, result: denied(call, by) };
  }

  /** What rules and the quiet preset say about the names as they are written in the call. */
  function decide(call: ToolCall, { effect, rule, why, quietParts, trail: matches }: Evaluation): Verdict {
    const { tool } = call;
    const trail = matches.map(({ rule: matched }) => {
      return { stage: "rule", name: matched.text, source: matched.source, effect: matched.effect };
    });
    const byRule = (told: string): Judgement => ({
      effect: effect === "none" ? "ask" : effect,
      by: rule === undefined ? "rules" : `rule ${rule.text}`,
      ...(rule === undefined ? {} : { source: rule.source }),
      why: told,
      trail,
    });
    const preset = (verdict: "allow" | "ask", by: string, told: string): Judgement => {
      const consulted = { stage: "preset", name: by, source: "built-in", effect: verdict };
      return { effect: verdict, by, why: told, trail: [...trail, consulted] };
    };
    if (effect === "deny") {
      const told = describeRule(rule);
      return { effect, judged: byRule(told), result: denied(call, `${told}. To allow it, change that rule`) };
    }
    const blocked = tool.name === "exec" ? blockedProgram(asRuleCall(call).subject) : undefined;
    if (blocked !== undefined) return { effect: "ask", judged: preset("ask", "blocked programs", blocked.why) };
    if (effect === "ask") return { effect, judged: byRule(why ?? `${describeRule(rule)} asks`) };
    if (effect === "allow") return { effect, judged: byRule(`${describeRule(rule)} allows it`), quiet: quietParts };
    if (options.strict()) {
      return { effect: "ask", judged: preset("ask", "strict permissions", "strict permissions: no rule allows it") };
    }
    const quiet = quietDecision({ tool: tool.name, args: call.args }, options.root);
    if (quiet.quiet) {
      const commands = tool.name === "exec" ? commandsOf(asRuleCall(call).subject) : [];
      return { effect: "allow", judged: preset("allow", "quiet preset", quiet.why), quiet: commands };
    }
    if (tool.class === "read_only" && !isBuiltin(tool.name)) {
      return { effect: "allow", judged: preset("allow", "read-only tool", "it changes nothing"), quiet: [] };
    }
    return { effect: "ask", judged: preset("ask", "quiet preset", `${quiet.why} (${QUIET_RULE})`) };
  }

  /** Who said yes and what to, or the refusal. */
  async function ask(call: ToolCall, why: string): Promise<CallResult | Yes> {
    const { bus, approver } = options;
    const { id: callId, turn, tool } = call;
    const rule = ruleToOffer(call);
    if (options.autoApprove) {
      await bus.publish("PermissionAnswered", { turn, call_id: callId, decision: "allow_once", by: "--auto-approve" });
      return { yesBy: "--auto-approve" };
    }
    if (!approver.canAnswer(turn)) {
      const text = `${tool.label} was denied: ${why}, and nobody can be asked. ${howToAllow(tool.name, rule)}`;
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
        ...(rule === undefined ? {} : { argv_glob: rule }),
      });
    } catch (error) {
      untold.abort();
      await answered;
      throw error;
    }
    const answer = await answered;
    const text = ruleOfAnswer(answer.decision, tool.name, rule);
    const added = text === undefined ? undefined : parseRule(text, "allow", "session");
    const expiresMs = options.now() + APPROVAL_MS;
    await bus.publish("PermissionAnswered", {
      turn,
      call_id: callId,
      decision: answer.decision,
      by: answer.by,
      ...(added === undefined ? {} : { rule: added.text }),
      ...(answer.reason === undefined ? {} : { reason: answer.reason }),
      ...approvalRecord(answer.decision, binding, expiresMs, options.newApproval),
    });
    if (YES.has(answer.decision)) {
      if (added !== undefined && sessionRules.length < MAX_SESSION_RULES) sessionRules.push(added);
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
    return refusal("denied", "PermissionDenied", `The user denied ${tool.label}: ${summarise(call)}.${because}`);
  }

  async function recheck(call: ToolCall, binding: Binding, expiresMs: number): Promise<void> {
    // Written so that a clock that gives nonsense is late.
    const isLate = !(options.now() <= expiresMs);
    const changed = isLate ? "the approval has expired" : await whatChanged(binding, call, sources);
    if (changed === undefined) return;
    throw new ToolError(reasonText("ApprovalVoid", { tool: call.tool.label, changed }), "ApprovalVoid");
  }

  return {
    sessionRules,
    revoke(text) {
      const at = sessionRules.findIndex((rule) => rule.text === text);
      if (at >= 0) sessionRules.splice(at, 1);
      return at >= 0;
    },
    async middleware(call, next) {
      const verdict = withRepeats(await judge(call), repeats.seen(call));
      if (verdict.effect === "allow") return next({ ...call, judged: verdict.judged });
      const { turn, step, id: call_id, tool } = call;
      const recorded = { ...verdict.judged, trail: [...verdict.judged.trail] };
      const told = options.bus.publishSoon("CallJudged", { turn, step, call_id, name: tool.name, judged: recorded });
      told.catch(() => undefined); // written with the question or the result, and failing with it
      if (verdict.effect === "deny") return verdict.result;
      const answer = await ask(call, verdict.judged.why);
      if (!("yesBy" in answer)) return answer;
      const refused = refusedBy(call);
      if (refused !== undefined) return refused.result;
      repeats.forgive();
      const { yesBy } = answer;
      const said = { stage: "answer", name: "yes", source: yesBy, effect: "allow" };
      const trail = [...verdict.judged.trail, said];
      const by = yesBy === "--auto-approve" ? yesBy : PERSON;
      const judged: Judgement = {
        effect: "allow",
        by,
        source: yesBy,
        why: `${yesBy} allowed it`,
        trail,
        ...(answer.recheck === undefined ? {} : { recheck: answer.recheck }),
      };
      return next({ ...call, judged });
    },
    isJudgedWhole: (call) => isBuiltin(call.tool.name),
    async judgeEffect(call, { tool: name, args }) {
      const verdict = await judge({ ...call, tool: standIn(name), args });
      if (verdict.effect === "allow") return undefined;
      const told = `${name} inside ${call.tool.name}`;
      if (verdict.effect === "deny") return `${told} was denied: ${verdict.judged.why}`;
      // Whoever allowed the call has seen its arguments, not each thing that its script does.
      const asksByRule = verdict.judged.trail.some(({ stage, effect }) => stage === "rule" && effect === "ask");
      const isSensitive = [args.path, args.from, args.to].some(
        (path) => typeof path === "string" && isSensitivePath(path).sensitive,
      );
      const { by } = call.judged ?? {};
      const isCovered = by === PERSON || (by?.startsWith("rule ") && !isSensitive) || by === "--auto-approve";
      if (isCovered && !asksByRule && call.tool.class !== "read_only") return undefined;
      return `${told} was denied: ${verdict.judged.why}, and allowing ${call.tool.name} does not cover it`;
    },
  };
}

/** Going in circles is a reason to ask also about what is allowed. */
function withRepeats(verdict: Verdict, why: string | undefined): Verdict {
  if (why === undefined || verdict.effect !== "allow") return verdict;
  const consulted = { stage: "preset", name: "repeated calls", source: "built-in", effect: "ask" };
  const trail = [...verdict.judged.trail, consulted];
  return { effect: "ask", judged: { effect: "ask", by: "repeated calls", why, trail } };
}

interface Yes {
  readonly yesBy: string;
  readonly recheck?: () => Promise<void>;
}

function approvalRecord(
  decision: Decision,
  binding: Binding,
  expiresMs: number,
  newApproval: () => ApprovalId,
): Pick<EventPayload<"PermissionAnswered">, "approval"> {
  if (!YES.has(decision)) return {};
  const scope = decision === "allow_once" ? "call" : decision === "allow_tool" ? "tool" : "argv_glob";
  const expires_at = new Date(expiresMs).toISOString();
  return { approval: { id: newApproval(), scope, expires_at, bound_to: bindingHash(binding) } };
}

/** Anything else, also what is no answer at all, is a no. */
const YES: ReadonlySet<Decision> = new Set(["allow_once", "allow_argv_glob", "allow_tool"]);

/** `Judgement.by` when somebody was asked about this very call. */
const PERSON = "person";

/** A built-in tool as far as judging needs it. */
function standIn(name: InnerEffect["tool"]): Tool {
  const isReading = name === "fs.read" || name === "fs.list";
  const label = Object.entries(TOOL_ALIASES).find(([, canonical]) => canonical === name)?.[0] ?? name;
  return {
    name,
    label,
    class: isReading ? "read_only" : name === "web.fetch" ? "sensitive" : "mutating",
    description: "",
    parameters: {},
    subject: ({ command, path, from, url }) => String(command ?? path ?? from ?? url ?? ""),
    run: async () => {
      throw new Error(`${name} is only judged here`);
    },
  };
}

function deny(
  { by, why, source }: { readonly by: string; readonly why: string; readonly source?: string },
  result: CallResult,
): Extract<Verdict, { effect: "deny" }> {
  const consulted = { stage: "built-in", name: by, source: source ?? "built-in", effect: "deny" };
  return {
    effect: "deny",
    judged: { effect: "deny", by, source: source ?? "built-in", why, trail: [consulted] },
    result,
  };
}

function deniedByBuiltin(call: ToolCall, why: string): Extract<Verdict, { effect: "deny" }> {
  return deny({ by: "built-in rule", why }, denied(call, `a built-in rule that no setting lifts: ${why}`));
}

/** Where a command starts, relative to the workspace root. */
function cwdOf({ args }: ToolCall): string {
  return typeof args.cwd === "string" ? args.cwd : ".";
}

function commandsOf(command: string): readonly SimpleCommand[] {
  const analysis = analyseShell(command);
  return analysis.understood ? analysis.commands : [];
}

/** Runs in another folder than the root, or may. */
function isElsewhere({ tool, args }: ToolCall): boolean {
  if (tool.name !== "exec") return false;
  const { cwd, command } = args;
  return (cwd !== undefined && cwd !== ".") || CHANGES_FOLDER.test(String(command).replace(/["'\\]/g, ""));
}

/** The log of a session that is kept in the workspace; its writer is the program alone. */
function isOwnRecord(path: unknown): boolean {
  return typeof path === "string" && /^\.harness(?:$|\/threads(?:$|\/))/.test(path);
}

function isTooLong(value: unknown): boolean {
  return typeof value === "string" && value.length > MAX_NAME_CHARS;
}

function strictest(a: Verdict, b: Verdict): Verdict {
  if (a.effect === "deny" || b.effect === "deny") return a.effect === "deny" ? a : b;
  return a.effect === "ask" ? a : b;
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
