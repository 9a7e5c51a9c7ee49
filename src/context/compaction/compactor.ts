/**
 * Compacts the conversation of one session: when a request would be too large, when a provider has refused one as too long, and when
 * a person asks for it. Appends one boundary event and changes nothing else; whatever goes wrong before that leaves everything as it was.
 */
import { defined } from "#base";
import type { CompactionPoint, CompactionProblem, Compactor, HookDispatcher, RequestMiddleware } from "#engine";
import { type Event, reasonText } from "#protocol";
import { askBeforeCompaction } from "./compact-hook.ts";
import { limitOf, sharesOf, type Trigger } from "./limits.ts";
import { createOpenCalls } from "./open-calls.ts";
import { planCompaction, tokensOf, turnsOf } from "./plan.ts";
import { type Replacement, replacementOf } from "./replacement.ts";
import { createSizes } from "./sizes.ts";
import type { FileFacts } from "./touched-files.ts";

/** So many in a row that leave the request too large end the turn. */
const MAX_WITHOUT_EFFECT = 2;

export interface CompactionSettings {
  /** `off`: only on demand. */
  readonly mode: "summarize" | "prune" | "off";
  readonly maxTokens?: number;
  readonly maxHistory?: number;
  /** Writes summaries, as a person wrote it; absent: the model of the session. */
  readonly model?: string;
}

export interface CompactorOptions {
  /** Asked whenever they matter: a project may change them between steps. */
  readonly settings: () => CompactionSettings;
  /** A smaller conversation is never compacted on its own, and nobody asks for the window of its model. */
  readonly minTokens: number;
  /** The largest request of a model, where it is known. */
  readonly window: (model: string) => number | undefined;
  /** `provider:name` for what a person wrote; rejects for a model that cannot be asked. */
  readonly resolveModel: (text: string) => Promise<string>;
  readonly hooks?: HookDispatcher;
  readonly depth: number;
  readonly files: FileFacts;
}

export interface SessionCompactor extends Compactor {
  /** Innermost of the request chain. */
  readonly measure: RequestMiddleware;
  /** Subscribe it to the bus. */
  readonly onEvent: (event: Event) => void;
}

export function createCompactor(options: CompactorOptions): SessionCompactor {
  const { settings, hooks, depth } = options;
  const sizes = createSizes();
  const openCalls = createOpenCalls();
  let withoutEffect = 0;
  /** The turn in which a hook has refused: it is not asked at every step. */
  let refusedIn: string | undefined;

  function limitFor(model: string) {
    const known = options.window(model);
    const refused = sizes.refusedAt(model);
    const window = refused === undefined ? known : Math.min(known ?? refused, refused);
    return limitOf(window, settings().maxTokens, sizes.fixed * sizes.ratioOf(model));
  }

  /** Of the next request, in tokens of its provider. */
  function sizeOf({ conversation, model }: CompactionPoint): number {
    return Math.ceil((sizes.fixed + tokensOf(conversation.parts())) * sizes.ratioOf(model));
  }

  function dueTo(at: CompactionPoint): { readonly trigger: Trigger; readonly detail: string } | undefined {
    const { mode, maxHistory } = settings();
    if (mode === "off" || refusedIn === at.turn) return undefined;
    const turns = turnsOf(at.conversation.parts());
    if (maxHistory !== undefined && turns > maxHistory) {
      return { trigger: "max_history", detail: `the conversation has ${turns} turns; max_history is ${maxHistory}` };
    }
    if (tokensOf(at.conversation.parts()) < options.minTokens) return undefined;
    const limit = limitFor(at.model);
    const tokens = sizeOf(at);
    if (limit === undefined || tokens <= limit.tokens) return undefined;
    return {
      trigger: limit.trigger,
      detail: `the request would have about ${tokens} tokens; the limit is ${limit.tokens}`,
    };
  }

  async function compact(at: CompactionPoint, due: Due): Promise<"done" | "nothing" | CompactionProblem> {
    const { model, conversation, bus, turn, step } = at;
    const ratio = sizes.ratioOf(model);
    const limit = limitFor(model)?.tokens;
    const { trigger } = due;
    const { maxHistory, mode } = settings();
    // Estimates are compared with estimates.
    const shares = sharesOf(limit === undefined ? undefined : Math.floor(limit / ratio), sizes.fixed, trigger);
    const maxTurns = maxHistory === undefined ? {} : { maxTurns: Math.ceil(maxHistory / 2) };
    const parts = conversation.parts();
    const plan = planCompaction(parts, { trigger, shares, fixedTokens: sizes.fixed, ...maxTurns });
    if (plan === undefined) return "nothing";
    const before = sizeOf(at);
    const asked = await askBeforeCompaction({ hooks, depth, at, due, tokens: before, limit });
    if ("problem" in asked) return asked.problem;
    const made: Replacement | CompactionProblem = await replacementOf({
      ...{ at, plan, shares, focus: asked.focus, byModel: mode !== "prune", files: options.files },
      openCalls: openCalls.pinned(),
      window: options.window,
      summaryModel: async () => {
        const written = settings().model;
        return written === undefined ? model : options.resolveModel(written);
      },
    });
    if ("reason" in made) return made;
    const { problem, saved, ...compaction } = made;
    if (saved <= 0) return "nothing";
    await bus.publish("CompactionTriggered", {
      ...{ turn, step, trigger, ...compaction },
      ...defined({ focus: asked.focus }),
      why: problem === undefined ? due.detail : `${due.detail}; without a model: ${problem}`,
      tokens_before: before,
      tokens_after: Math.max(0, before - Math.ceil(saved * ratio)),
    });
    await asked.publishContext();
    return "done";
  }

  return {
    measure: sizes.middleware,
    onEvent: openCalls.onEvent,
    async beforeRequest(at) {
      const due = dueTo(at);
      if (due === undefined) return undefined;
      const result = await compact(at, due);
      if (typeof result === "object") {
        if (result.reason === "HookBlocked") refusedIn = at.turn;
        return undefined;
      }
      const limit = limitFor(at.model)?.tokens ?? Number.POSITIVE_INFINITY;
      if (sizeOf(at) <= limit) {
        withoutEffect = 0;
        return undefined;
      }
      withoutEffect += 1;
      if (withoutEffect < MAX_WITHOUT_EFFECT) return undefined;
      withoutEffect = 0;
      return ineffective(sizeOf(at), limit, sizes.fixed * sizes.ratioOf(at.model));
    },
    async afterOverflow(at) {
      if (settings().mode === "off" || refusedIn === at.turn) return false;
      const detail = "the provider refused the request as too long";
      return (await compact(at, { trigger: "overflow", detail })) === "done";
    },
    async now(at, focus) {
      const result = await compact(at, { trigger: "command", detail: "asked for", ...defined({ focus }) });
      if (typeof result === "object") return result;
      if (result === "done") return undefined;
      return { reason: "NothingToCompact", message: reasonText("NothingToCompact", { tokens: sizeOf(at) }) };
    },
  };
}

/** Why it is time. */
export interface Due {
  readonly trigger: Trigger;
  readonly detail: string;
  /** What whoever asks for it wants to keep. */
  readonly focus?: string;
}

function ineffective(tokens: number, limit: number, fixedTokens: number): CompactionProblem {
  const share = `About ${Math.ceil(fixedTokens)} tokens of that are the system prompt and the tools.`;
  return { reason: "CompactionIneffective", message: reasonText("CompactionIneffective", { tokens, limit, share }) };
}
