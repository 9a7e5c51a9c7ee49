/**
 * Whether a delegate has done what it says. Verifiers look at the facts: first the scripts that came with the agent and the request,
 * then the hooks on `delegation.post_verify`; all of them have to agree. A claim that is not accepted goes back to the same delegate,
 * in its own conversation, a bounded number of times. A verifier that is broken is a failure, never a yes.
 */
import { beginningOf, isRecord, jsonIn } from "#base";
import {
  type CallResult,
  type CheckCall,
  type Claim,
  eitherName,
  type HookDispatcher,
  type HookPoint,
  type PayloadChanges,
  type StopCheck,
  type StopVerdict,
  type Tool,
} from "#engine";
import { type EventPayload, type Reason, reasonText, textIn } from "#protocol";
import type { Verification, VerifyOutcome } from "./outcome.ts";

const REASON_MAX_CHARS = 2_000;

/** The shape that verifiers and hooks see. */
export interface ReportedResult {
  readonly response: string;
  readonly tool_calls: readonly unknown[];
  readonly tool_results: readonly unknown[];
}

export interface VerificationParts {
  /** In the order in which they run. */
  readonly verifiers: readonly Tool[];
  readonly maxRetries: number;
  /** Of the parent, with those of the agent's file. */
  readonly hooks: HookDispatcher | undefined;
  /** Where the parent delegates. Its turn may be over before a delegate that worked beside it: the signal is that of the claim. */
  readonly point: HookPoint;
  /** What hooks are told besides the result. */
  readonly facts: Readonly<Record<string, unknown>>;
  /** What the delegate's calls came to so far. */
  readonly results: () => readonly unknown[];
  readonly record: (
    verdict: Pick<EventPayload<"DelegationVerified">, "attempt" | "verified" | "reason" | "broken">,
  ) => Promise<void>;
}

export interface Verifying {
  readonly check: StopCheck;
  /** What was accepted; undefined until something was. */
  readonly accepted: ReportedResult | undefined;
  /** What was claimed last. */
  readonly claimed: ReportedResult | undefined;
  readonly verification: Verification;
}

type Verdict =
  | { readonly verified: true }
  | { readonly verified: false; readonly why: string }
  | { readonly broken: string };

export function createVerification(parts: VerificationParts): Verifying {
  const { verifiers, hooks, maxRetries, record } = parts;
  let attempts = 0;
  let outcome: VerifyOutcome = "skipped";
  let accepted: ReportedResult | undefined;
  let claimed: ReportedResult | undefined;

  async function askHooks(
    result: ReportedResult,
    signal: AbortSignal,
  ): Promise<{ verdict: Verdict; result: ReportedResult }> {
    if (hooks === undefined || hooks.idle("delegation.post_verify")) return { verdict: { verified: true }, result };
    const payload = { ...parts.facts, ...result, result: result.response, attempt: attempts };
    const answer = await hooks.dispatch("delegation.post_verify", payload, { ...parts.point, signal }, responseChanges);
    if (answer.blocked) {
      const named = `${answer.reason} (hook ${answer.hook})`;
      return { verdict: answer.failed === true ? { broken: named } : { verified: false, why: answer.reason }, result };
    }
    if (answer.payload === payload) return { verdict: { verified: true }, result };
    return { verdict: { verified: true }, result: { ...result, response: responseOf(answer.payload) } };
  }

  async function check(claim: Claim, call: CheckCall): Promise<StopVerdict> {
    const result: ReportedResult = { response: claim.text, tool_calls: claim.calls, tool_results: parts.results() };
    claimed = result;
    if (verifiers.length === 0 && (hooks === undefined || hooks.idle("delegation.post_verify"))) {
      accepted = result;
      return { accepted: true };
    }
    attempts += 1;
    const reasons: string[] = [];
    for (const verifier of verifiers) {
      const verdict = verdictOf(await call(verifier, { ...parts.facts, ...result, attempt: attempts }));
      if ("broken" in verdict) return fail("VerifierBroken", verdict.broken);
      if (!verdict.verified) reasons.push(verdict.why);
    }
    const asked = await askHooks(result, claim.signal);
    if ("broken" in asked.verdict) return fail("VerifierBroken", asked.verdict.broken);
    if (!asked.verdict.verified) reasons.push(asked.verdict.why);
    if (reasons.length === 0) {
      outcome = "passed";
      accepted = asked.result;
      await record({ attempt: attempts, verified: true });
      return { accepted: true };
    }
    const why = beginningOf(reasons.join("; "), REASON_MAX_CHARS);
    if (attempts > maxRetries) return fail("KindVerificationFailed", why);
    outcome = "failed";
    await record({ attempt: attempts, verified: false, reason: why });
    return { accepted: false, text: retryPrompt(why), source: verifiers[0]?.name ?? "delegation.post_verify" };
  }

  async function fail(reason: Reason, why: string): Promise<StopVerdict> {
    outcome = "failed";
    const broken = reason === "VerifierBroken";
    await record({ attempt: attempts, verified: false, reason: why, ...(broken ? { broken } : {}) });
    const message = reasonText(reason, broken ? { detail: why } : { attempts, why });
    return { accepted: false, reason, message };
  }

  return {
    check,
    get accepted() {
      return accepted;
    },
    get claimed() {
      return claimed;
    },
    get verification() {
      return { outcome, attempts };
    },
  };
}

/** Fixed: what a delegate reads when its work was not accepted. */
export function retryPrompt(reason: string): string {
  return (
    `VERIFICATION FAILED on the previous attempt: ${reason}\n\n` +
    "The task is NOT complete. Re-examine the actual state of the world and finish the work. " +
    "Do not just claim success — actually verify the side effects exist before responding."
  );
}

function verdictOf({ outcome, content }: CallResult): Verdict {
  const text = textIn(content);
  if (outcome !== "ok") return { broken: beginningOf(text, REASON_MAX_CHARS) };
  const answer = jsonIn(text);
  if (answer === true) return { verified: true };
  if (answer === false) return { verified: false, why: "the verifier did not accept it" };
  if (!isRecord(answer) || typeof answer.verified !== "boolean") {
    const shown = beginningOf(text, 200);
    return { broken: `it returned ${shown}, not a JSON object with "verified": true or false` };
  }
  if (answer.verified) return { verified: true };
  const { reason } = answer;
  return {
    verified: false,
    why: typeof reason === "string" && reason !== "" ? reason : "the verifier did not accept it",
  };
}

/** `response` and `result` are two names of one thing, which is text; anything else becomes JSON. */
export const responseChanges: PayloadChanges = {
  fields: ["response", "result"],
  settle(merged, before) {
    const changed = eitherName(merged, before, ["response", "result"]);
    if (changed === null || changed === undefined) throw new Error("modify: the response is None");
    const response = typeof changed === "string" ? changed : JSON.stringify(changed);
    return { ...merged, response, result: response };
  },
};

export function responseOf(payload: unknown): string {
  if (isRecord(payload) && typeof payload.response === "string") return payload.response;
  throw new Error("the hooks of a delegation left no response");
}
