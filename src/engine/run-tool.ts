/** The end of the tool chain: runs the tool on the ports it was handed and turns every failure into a result. */
import { EffectError, messageOf } from "#base";
import { type JobId, reasonText } from "#protocol";
import { abandonOnAbort } from "./abandon.ts";
import { type BackgroundWork, type NestedOptions, type QuestionDetails, type ToolContext, ToolError } from "./tool.ts";
import { type CallResult, refusal, type ToolCall, type UnaskedCall } from "./tool-chain.ts";

/** The answer of a person to the question of a tool; undefined when nobody can be asked. */
export type AskPerson = (
  call: Pick<ToolCall, "id" | "turn" | "signal">,
  question: string,
  options: readonly string[],
  details?: QuestionDetails,
) => Promise<string | undefined>;

/** Starts work that outlives its call. */
export type StartBackground = (call: ToolCall, work: BackgroundWork) => Promise<JobId>;

export interface RunToolParts {
  readonly ask: AskPerson;
  /** Absent where nothing may go on beside the turns. */
  readonly background?: StartBackground | undefined;
  readonly nested: NestedCall;
}

/** Makes a call on behalf of another one, through the whole chain. */
export type NestedCall = (
  parent: ToolCall,
  name: string,
  args: Readonly<Record<string, unknown>>,
  options: NestedOptions & { readonly unasked?: UnaskedCall },
) => Promise<CallResult>;

export function createRunTool({ ask, nested, background }: RunToolParts): (call: ToolCall) => Promise<CallResult> {
  return async (call) => {
    const { tool, ports, signal } = call;
    if (ports === undefined) {
      return refusal("error", "InternalError", "The call reached its tool without passing the gate.");
    }
    const context: ToolContext = {
      session: call.session,
      turn: call.turn,
      callId: call.id,
      signal,
      ports,
      step: call.step,
      depth: call.depth,
      nesting: call.nesting,
      originator: call.originator,
      annotate: call.annotate,
      async call(name, args, options = {}) {
        if (signal.aborted) throw new EffectError("Cancelled", "the call was cancelled");
        const result = await nested(call, name, args, options);
        return { content: result.content, isError: result.outcome !== "ok" };
      },
      async background(work) {
        if (background === undefined) {
          throw new ToolError("Commands cannot run in the background here; run it without background.");
        }
        return background(call, work);
      },
      progress: call.progress,
      ask: (question, options, details) => ask(call, question, options, details),
    };
    try {
      const output = await abandonOnAbort(tool.run(call.args, context), signal);
      if (output === undefined) return cancelled(call);
      return output.isError
        ? { content: output.content, outcome: "error", reason: "ToolFailed" }
        : { content: output.content, outcome: "ok" };
    } catch (cause) {
      if (signal.aborted) return cancelled(call, cause);
      if (cause instanceof ToolError) {
        return refusal(cause.reason === "ToolTimeout" ? "timeout" : "error", cause.reason, cause.message);
      }
      if (cause instanceof EffectError && cause.reason === "SandboxUnavailable") {
        return refusal("error", cause.reason, reasonText(cause.reason, { detail: cause.message }));
      }
      if (cause instanceof EffectError) return refusal("error", "ToolFailed", `${cause.reason}: ${cause.message}`);
      const detail = messageOf(cause);
      return refusal("error", "ToolFailed", reasonText("ToolFailed", { detail: `${tool.name} failed: ${detail}` }));
    }
  };
}

function cancelled(call: ToolCall, cause?: unknown): CallResult {
  const told = cause instanceof ToolError ? cause.message : `${call.tool.label} was cancelled.`;
  const reason = cause instanceof ToolError ? cause.reason : "Cancelled";
  return refusal("cancelled", reason, told);
}
