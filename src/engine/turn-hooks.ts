/** Where a turn asks its hooks: before it begins, when the agent wants to stop, and when it has ended. */
import { defined } from "#base";
import { type ClientId, type InputBlock, reasonText, type SessionId, type TurnId, textIn, type Usage } from "#protocol";
import type { EventBus } from "./bus.ts";
import type { HookContext, HookDispatcher, HookPoint, HookVerdict } from "./hook.ts";
import type { Ending } from "./turn-ending.ts";

/** How often one turn is sent back to work before it ends as failed. */
const MAX_STOPS_BLOCKED = 2;

export interface PublishedCall {
  readonly name: string;
  readonly args: unknown;
}

interface Parts {
  readonly session: SessionId;
  readonly bus: Pick<EventBus, "publish">;
  readonly depth: number;
  readonly hooks?: HookDispatcher;
  readonly model: () => string;
}

interface Input {
  readonly turn: TurnId;
  readonly originator: ClientId;
  readonly content: readonly InputBlock[];
  readonly signal: AbortSignal;
}

interface Told {
  readonly text: string;
  readonly calls: readonly PublishedCall[];
  readonly usage: Usage;
  stopsBlocked: number;
}

/** What hooks made of an input, and what they add to it. */
export interface AskedInput {
  readonly content: readonly InputBlock[];
  readonly context: readonly HookContext[];
  readonly refused?: Ending;
}

/** `turn.start` and then `agent.start`, in its `task`, may rewrite the text of the input. Either may refuse the turn. */
export async function askAtStart(parts: Parts, input: Input): Promise<AskedInput> {
  const { hooks, depth } = parts;
  const asked = await askAboutInput(parts, input);
  if (hooks === undefined || asked.refused !== undefined) return asked;
  let { content } = asked;
  const { context } = asked;
  if (!hooks.idle("agent.start")) {
    const payload = { task: textIn(content), depth, model: parts.model() };
    const verdict = await hooks.dispatch("agent.start", payload, pointOf(parts, input), { fields: ["task"] });
    if (verdict.blocked) return { content, context, refused: blockedEnding("agent.start", verdict) };
    if (verdict.payload !== payload) {
      const changed = rewritten(content, taskOf(verdict.payload));
      if (changed === undefined) return { content, context, refused: unusable("agent.start") };
      content = changed;
    }
  }
  return { content, context };
}

/** `turn.start` may rewrite the text of what somebody says to the agent, or refuse it. */
export async function askAboutInput(parts: Parts, input: Input): Promise<AskedInput> {
  const { hooks } = parts;
  const { content } = input;
  if (hooks === undefined || hooks.idle("turn.start")) return { content, context: [] };
  const text = textIn(content);
  const verdict = await hooks.dispatch("turn.start", text, pointOf(parts, input));
  if (verdict.blocked) return { content, context: [], refused: blockedEnding("turn.start", verdict) };
  const { context = [] } = verdict;
  if (verdict.payload === text) return { content, context };
  const changed = rewritten(content, verdict.payload);
  if (changed === undefined) return { content, context, refused: unusable("turn.start") };
  return { content: changed, context };
}

/** Behind the input that it belongs to. */
export async function publishContext(
  bus: Pick<EventBus, "publish">,
  context: readonly HookContext[],
  turn?: TurnId,
): Promise<void> {
  for (const { hook, source, text } of context) {
    const content = [{ type: "text" as const, text }];
    await bus.publish("ContextAdded", { ...defined({ turn }), origin: "hook", what: `${hook} (${source})`, content });
  }
}

/** The agent wants to stop: undefined when it may, else what the turn does instead. */
export async function askToStop(
  parts: Parts,
  input: Input,
  step: number,
  told: Told,
): Promise<Ending | "go on" | undefined> {
  const { hooks, bus, depth } = parts;
  if (hooks === undefined || hooks.idle("agent.stop")) return undefined;
  const payload = { text: told.text, tool_calls: told.calls, depth, attempt: told.stopsBlocked };
  const verdict = await hooks.dispatch("agent.stop", payload, { ...pointOf(parts, input), step });
  if (!verdict.blocked) return undefined;
  if (told.stopsBlocked >= MAX_STOPS_BLOCKED) return blockedEnding("agent.stop", verdict);
  told.stopsBlocked += 1;
  const text = `You are not done: ${verdict.reason}\n\nLook at the actual state of things and finish the work before you answer.`;
  await bus.publish("Reprompted", { turn: input.turn, step, text, source: verdict.source });
  return "go on";
}

/** Informs; what the hooks answer changes nothing any more. */
export async function askAtEnd(parts: Parts, input: Input, told: Told, ending: Ending): Promise<void> {
  const { hooks } = parts;
  if (hooks === undefined) return;
  // The turn's own signal may be aborted; its end is told all the same.
  const point = { ...pointOf(parts, input), signal: new AbortController().signal };
  if (ending.outcome === "error" && !hooks.idle("error")) {
    await hooks.dispatch("error", { reason: ending.reason ?? "InternalError", message: ending.message ?? "" }, point);
  }
  if (hooks.idle("turn.end")) return;
  const { input_tokens, output_tokens } = told.usage;
  const payload = {
    text: told.text,
    tool_calls: told.calls,
    usage: { input_tokens, output_tokens },
    total_tokens: input_tokens + output_tokens,
    outcome: ending.outcome,
  };
  await hooks.dispatch("turn.end", payload, point);
}

function pointOf({ session, depth }: Parts, { turn, originator, signal }: Input): HookPoint {
  return { session, turn, depth, nesting: 0, originator, signal };
}

function taskOf(payload: unknown): unknown {
  return typeof payload === "object" && payload !== null && "task" in payload ? payload.task : undefined;
}

/** Undefined when it is no text that could be asked. */
function rewritten(content: readonly InputBlock[], text: unknown): readonly InputBlock[] | undefined {
  if (typeof text !== "string" || text.trim() === "") return undefined;
  return [{ type: "text", text }, ...content.filter((block) => block.type !== "text")];
}

/** What a hook changed makes no sense: it is not asked, as if the hook had refused it. */
function unusable(event: string): Ending {
  const reason = "a hook answered with something other than the text of the input";
  return blockedEnding(event, { blocked: true, hook: event, reason, source: "-" });
}

function blockedEnding(event: string, { hook, reason, source }: Extract<HookVerdict, { blocked: true }>): Ending {
  return {
    outcome: "error",
    reason: "HookBlocked",
    message: reasonText("HookBlocked", { event, hook, reason, source }),
  };
}
