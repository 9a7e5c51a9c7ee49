/**
 * What the exit code and the output of a hook mean. 0: it agrees, and what it prints may say more. 2: it blocks, and standard error
 * is the reason. Anything else, a signal and half an answer are failures. Fields that are not known are left alone.
 */

import type { ShellHookEvent } from "#artifacts";
import { isRecord, jsonIn } from "#base";

/** How a hook ended, as far as its answer is concerned. */
export interface HookExit {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly truncated: boolean;
}

/** An answer in the words of this program. Absent fields were not said. */
export interface HookAnswer {
  /** Why it blocks. */
  readonly block?: string;
  /** The turn shall end; why. */
  readonly stop?: string;
  readonly permission?: { readonly effect: "allow" | "ask"; readonly reason: string };
  readonly updatedInput?: Readonly<Record<string, unknown>>;
  /** What a tool gave back, as the model shall read it. */
  readonly updatedOutput?: unknown;
  readonly context?: string;
  /** For the person. */
  readonly message?: string;
}

/** What a hook printed makes no sense, or it failed. */
export class UnusableAnswer extends Error {
  override readonly name = "UnusableAnswer";
}

const NO_REASON = "the hook gave no reason";
/** Of these the plain text that they print is context, as other agents have it. */
const TEXT_IS_CONTEXT: ReadonlySet<ShellHookEvent> = new Set(["SessionStart", "UserPromptSubmit"]);
/** A field that decides, in an output that is not a JSON object. */
const DECISION = /"(?:decision|permissionDecision|continue)"\s*:/;

export function answerOf(event: ShellHookEvent, exit: HookExit): HookAnswer {
  const { code, signal, stdout, stderr } = exit;
  if (signal !== null || code === null) throw new UnusableAnswer(`a signal (${signal ?? "unknown"}) ended it`);
  if (code === 2) return { block: said(stderr) ?? said(stdout) ?? NO_REASON };
  if (code !== 0) {
    const why = said(stderr) ?? said(stdout);
    throw new UnusableAnswer(`it ended with exit code ${code}${why === undefined ? "" : `: ${why}`}`);
  }
  const text = stdout.trim();
  if (!text.startsWith("{")) {
    if (event === "PreToolUse" && DECISION.test(text))
      throw new UnusableAnswer("its JSON answer has other text around it");
    return TEXT_IS_CONTEXT.has(event) && text !== "" ? { context: text } : {};
  }
  const json = jsonIn(text);
  if (!isRecord(json)) {
    throw new UnusableAnswer(
      exit.truncated ? "its JSON answer is longer than 64 KB" : "its JSON answer is not valid JSON",
    );
  }
  return fromJson(event, json);
}

function fromJson(event: ShellHookEvent, json: Readonly<Record<string, unknown>>): HookAnswer {
  const specific = field(json, "hookSpecificOutput", isRecord, "an object") ?? {};
  const reason = field(json, "reason", isText, "text");
  const context =
    field(specific, "additionalContext", isText, "text") ?? field(json, "additionalContext", isText, "text");
  const message = field(json, "systemMessage", isText, "text");
  const isOver = field(json, "continue", isFlag, "true or false") === false;
  const stop = isOver ? (field(json, "stopReason", isText, "text") ?? NO_REASON) : undefined;
  const rest = { ...(context !== undefined && { context }), ...(message !== undefined && { message }) };
  const stopped = stop === undefined ? {} : { stop };
  const decision = field(json, "decision", isText, "text");
  if (event !== "PreToolUse") {
    // Words that other agents send along and that mean nothing here.
    const isBlock =
      oneOf(decision, "decision", ["block", "approve", "allow", "deny"]) === "block" || decision === "deny";
    const updatedOutput =
      event === "PostToolUse" ? (specific.updatedToolOutput ?? specific.updatedMCPToolOutput) : null;
    return {
      ...rest,
      ...stopped,
      ...(updatedOutput === undefined || updatedOutput === null ? {} : { updatedOutput }),
      ...(isBlock && { block: reason ?? NO_REASON }),
    };
  }
  if (json.permissionDecision !== undefined) {
    throw new UnusableAnswer('"permissionDecision" of its answer is not inside "hookSpecificOutput"');
  }
  if (specific.decision !== undefined) {
    throw new UnusableAnswer('"decision" of its answer is inside "hookSpecificOutput"');
  }
  return { ...rest, ...stopped, ...aboutCall(specific, decision, reason) };
}

/** Where both forms are there, the newer one counts, unless the older one blocks. */
function aboutCall(
  specific: Readonly<Record<string, unknown>>,
  decision: string | undefined,
  reason: string | undefined,
): HookAnswer {
  const updatedInput = field(specific, "updatedInput", isRecord, "an object");
  const written = field(specific, "permissionDecision", isText, "text");
  const isBlock = decision === "block" || decision === "deny";
  const effect = isBlock ? "deny" : (written ?? (decision === "approve" ? "allow" : decision));
  const why = field(specific, "permissionDecisionReason", isText, "text") ?? reason ?? NO_REASON;
  const changed = updatedInput === undefined ? {} : { updatedInput };
  switch (oneOf(effect, "permissionDecision", ["allow", "deny", "ask"])) {
    case undefined:
      return changed;
    case "deny":
      return { block: why };
    case "allow":
      return { ...changed, permission: { effect: "allow", reason: why } };
    case "ask":
      return { ...changed, permission: { effect: "ask", reason: why } };
  }
}

function field<Value>(
  of: Readonly<Record<string, unknown>>,
  name: string,
  isFit: (value: unknown) => value is Value,
  expected: string,
): Value | undefined {
  const value = Object.hasOwn(of, name) ? of[name] : undefined;
  if (value === undefined || value === null) return undefined;
  if (isFit(value)) return value;
  throw new UnusableAnswer(`"${name}" of its answer is not ${expected}`);
}

function oneOf<const Word extends string>(
  value: string | undefined,
  name: string,
  words: readonly Word[],
): Word | undefined {
  if (value === undefined) return undefined;
  const found = words.find((word) => word === value);
  if (found !== undefined) return found;
  throw new UnusableAnswer(`"${name}" of its answer is "${value.slice(0, 40)}", which is none of ${words.join(", ")}`);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isFlag(value: unknown): value is boolean {
  return typeof value === "boolean";
}

function said(text: string): string | undefined {
  const trimmed = text.trim();
  return trimmed === "" ? undefined : trimmed;
}
