/**
 * Tool middleware: decides whether a call may run. Plan mode, blocked programs and deny rules refuse; allow rules and the
 * quiet preset let pass; everything else asks a person, and without one it is denied at once.
 */
import type { Approver, CallResult, EventBus, ToolCall, ToolMiddleware } from "#engine";
import { refusal } from "#engine";
import { type Decision, reasonText } from "#protocol";
import { judgeFileRules } from "./file-rules.ts";
import { type DiskReader, locatedArguments, loudOnDisk } from "./on-disk.ts";
import { blockedProgram, QUIET_RULE, quietDecision, suggestArgvGlob } from "./quiet-preset.ts";
import { evaluateRules, parseRule, type Rule, type RuleCall, type RuleVerdict, type ToolAliases } from "./rules.ts";
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
/** Longest path or glob that is judged; matching longer ones could take long. */
const MAX_NAME_CHARS = 4096;
const NAMES: ReadonlySet<string> = new Set(["path", "from", "to", "glob", "pattern"]);
/** Anywhere in a command: what follows may run in another folder, where quiet programs obey other files. */
const CHANGES_FOLDER = /\b(?:cd|pushd|popd|chdir)\b/;

export interface PermissionOptions {
  readonly bus: EventBus;
  readonly approver: Approver;
  readonly rules: readonly Rule[];
  /** The absolute workspace root. */
  readonly root: string;
  /** To see where a path really leads before it is judged. */
  readonly files: DiskReader;
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
  /** `quiet`: commands that no rule allows and that pass because they only read; still to be looked up on the disk. */
  | { readonly effect: "allow"; readonly quiet: readonly SimpleCommand[] }
  | { readonly effect: "ask"; readonly why: string }
  | { readonly effect: "deny"; readonly result: CallResult };

interface Evaluation extends RuleVerdict {
  readonly quietParts: readonly SimpleCommand[];
}

export function createPermission(options: PermissionOptions): Permission {
  const sessionRules: Rule[] = [];

  /** What can refuse a call whatever anybody answers. Asked again after a question: things change while it waits. */
  function refusedBy(call: ToolCall): CallResult | undefined {
    const { tool } = call;
    if (options.planMode() && tool.class !== "read_only") {
      return refusal("denied", "PlanModeActive", reasonText("PlanModeActive", { tool: tool.label }));
    }
    const blocked = tool.name === "exec" ? blockedProgram(asRuleCall(call).subject) : undefined;
    return blocked?.effect === "deny"
      ? denied(call, `a built-in rule that no setting lifts: ${blocked.why}`)
      : undefined;
  }

  function evaluate(call: ToolCall): Evaluation {
    const ruleCall = asRuleCall(call);
    const elsewhere = isElsewhere(call);
    // What a pattern allows, and what is quiet, is meant for the workspace root.
    const rules = [...options.rules, ...sessionRules].filter(
      (rule) => !elsewhere || rule.effect !== "allow" || rule.pattern === undefined,
    );
    const quietParts: SimpleCommand[] = [];
    const verdict = evaluateRules(rules, ruleCall, TOOL_ALIASES, {
      root: options.root,
      // Quiet parts of a compound command need no rule of their own.
      passes(command) {
        const isQuiet = !options.strict && !elsewhere && loudness(command, { root: options.root }) === undefined;
        if (isQuiet) quietParts.push(command);
        return isQuiet;
      },
    });
    return { ...verdict, quietParts };
  }

  async function judge(call: ToolCall): Promise<Verdict> {
    const { tool } = call;
    const refused = refusedBy(call);
    if (refused !== undefined) return { effect: "deny", result: refused };
    const tooLong = Object.entries(call.args).find(([name, value]) => NAMES.has(name) && isTooLong(value));
    if (tooLong !== undefined && tool.name.startsWith("fs.")) {
      const text = `${tooLong[0]} is longer than ${MAX_NAME_CHARS} characters.`;
      return { effect: "deny", result: refusal("error", "InvalidArguments", text) };
    }
    const written = decide(call, evaluate(call));
    if (written.effect === "deny") return written;
    if (tool.name.startsWith("fs.")) {
      const args = await locatedArguments(call.args, options.files);
      if (args === undefined) {
        const text = `${tool.label} was denied: the path is outside the workspace ${options.root}, which tools cannot leave.`;
        return {
          effect: "deny",
          result: refusal("denied", "PermissionDenied", `${text} Start harness with --cwd there.`),
        };
      }
      if (tool.class === "mutating" && [args.path, args.from, args.to].some(isOwnRecord)) {
        return {
          effect: "deny",
          result: denied(call, "a built-in rule that no setting lifts: it is the session's own record"),
        };
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
    return why === undefined ? written : { effect: "ask", why: `${why} (${QUIET_RULE})` };
  }

  /** A rule about a file holds for commands that read or change it, too. */
  async function fileRules(call: ToolCall): Promise<Verdict | undefined> {
    const { files } = options;
    const rules = [...options.rules, ...sessionRules];
    const about = { rules, aliases: TOOL_ALIASES, files, cwd: cwdOf(call) };
    const verdict = await judgeFileRules(asRuleCall(call).subject, about);
    if (verdict?.effect !== "deny") return verdict === undefined ? undefined : { effect: "ask", why: verdict.why };
    const by = `${describeRule(verdict.rule)}: ${verdict.why}. To allow it, change that rule`;
    return { effect: "deny", result: denied(call, by) };
  }

  /** What rules and the quiet preset say about the names as they are written in the call. */
  function decide(call: ToolCall, { effect, rule, why, quietParts }: Evaluation): Verdict {
    const { tool } = call;
    if (effect === "deny") {
      return { effect, result: denied(call, `${describeRule(rule)}. To allow it, change that rule`) };
    }
    const blocked = tool.name === "exec" ? blockedProgram(asRuleCall(call).subject) : undefined;
    if (blocked !== undefined) return { effect: "ask", why: blocked.why };
    if (effect === "ask") return { effect, why: why ?? `${describeRule(rule)} asks` };
    if (effect === "allow") return { effect, quiet: quietParts };
    if (options.strict) return { effect: "ask", why: "strict permissions: no rule allows it" };
    const quiet = quietDecision({ tool: tool.name, args: call.args }, options.root);
    if (quiet.quiet)
      return { effect: "allow", quiet: tool.name === "exec" ? commandsOf(asRuleCall(call).subject) : [] };
    if (tool.class === "read_only" && !isBuiltin(tool.name)) return { effect: "allow", quiet: [] };
    return { effect: "ask", why: `${quiet.why} (${QUIET_RULE})` };
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
      const verdict = await judge(call);
      if (verdict.effect === "deny") return verdict.result;
      if (verdict.effect === "ask") {
        const refused = (await ask(call, verdict.why)) ?? refusedBy(call);
        if (refused !== undefined) return refused;
      }
      return next(call);
    },
  };
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
