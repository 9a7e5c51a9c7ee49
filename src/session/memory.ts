/**
 * The memories of one session: read before each turn, chosen for it, and added to the log as what joined it. What was chosen is an
 * event, so that a resume and a replay need not choose again. Delegates share the tools of their root and choose nothing.
 */
import type { Settings } from "#artifacts";
import {
  EffectError,
  hasMarker,
  type Memory,
  type MemoryPort,
  type MemoryShelf,
  type MemoryStore,
  memoryText,
} from "#base";
import type { PromptBlock } from "#context";
import type { EventBus, JoinTurn, Tool } from "#engine";
import type { ConsideredMemory, MemoryRanking } from "#memory";
import { type Label, type Message, reasonText, type SessionId, textIn } from "#protocol";
import { forgetMemory, searchMemories, writeMemory } from "#tools";

export interface SessionMemory {
  /** What calls reach, below the gate. */
  readonly port: MemoryPort;
  tools(): readonly Tool[];
  /** Before each turn: reads what is on disk. */
  ready(): Promise<void>;
  /** What stands in the prompt of the session. */
  blocks(): readonly PromptBlock[];
  /** Publishes what joins the turn. */
  readonly join: JoinTurn;
  /** Of the last turn, the core memories first. */
  considered(): readonly ConsideredMemory[];
  recordTo(bus: Pick<EventBus, "publish">): void;
}

export interface SessionMemoryOptions {
  readonly session: SessionId;
  readonly settings: Settings["memory"];
  readonly store: MemoryStore;
  /** Those of the repository that somebody allowed. */
  readonly repository: () => readonly Memory[];
  /** What the session holds. */
  readonly labels: () => readonly Label[];
  /** What of the conversation the model is shown. */
  readonly visible: (history: readonly Message[]) => readonly Message[];
}

/** Nothing is loaded where there are no memories. */
export function createSessionMemory(options: SessionMemoryOptions): SessionMemory {
  const { session, settings, store, repository, labels, visible } = options;
  let shelf: MemoryShelf = { memories: [], problems: [] };
  let ranked: { readonly of: MemoryShelf; readonly beside: string; readonly ranking: MemoryRanking } | undefined;
  let considered: readonly ConsideredMemory[] = [];
  let blocks: readonly PromptBlock[] | undefined;
  let bus: Pick<EventBus, "publish"> | undefined;
  const told = new Set<string>();

  const all = (): readonly Memory[] => (settings.enabled ? [...shelf.memories, ...repository()] : []);

  async function ranking(): Promise<MemoryRanking> {
    const beside = JSON.stringify(repository());
    if (ranked?.of !== shelf || ranked.beside !== beside) {
      const { createRanking } = await import("#memory");
      ranked = { of: shelf, beside, ranking: createRanking(all()) };
    }
    return ranked.ranking;
  }

  async function reload(): Promise<void> {
    if (settings.enabled && store.isThere()) shelf = await store.load();
  }

  async function tellProblems(): Promise<void> {
    for (const detail of shelf.problems.filter((problem) => !told.has(problem))) {
      told.add(detail);
      const message = reasonText("MemoryUnusable", { detail });
      await bus?.publish("Error", { reason: "MemoryUnusable", message, terminal: false });
    }
  }

  const join: JoinTurn = async ({ turn, content, history }) => {
    await tellProblems();
    const memories = all();
    considered = [];
    if (memories.length === 0) return;
    const { chooseMemories, coreMemories, keyOf, TURN_TOKENS } = await import("#memory");
    const add = async ({ memory, why }: ConsideredMemory, isInPrompt: boolean): Promise<void> => {
      await bus?.publish("ContextAdded", {
        ...{ turn, origin: "memory", what: keyOf(memory), why },
        content: [{ type: "text", text: memoryText(memory) }],
        ...(isInPrompt ? { in_prompt: true } : {}),
        ...(memory.labels.length === 0 ? {} : { labels: [...memory.labels] }),
      });
    };
    const core = coreMemories(memories);
    if (blocks === undefined) {
      // Once: a prompt that changes costs the provider's cache of all that is behind it.
      blocks = core.filter(({ isChosen }) => isChosen).map(({ memory }) => memoryBlock(memory));
      for (const one of core) if (one.isChosen) await add(one, true);
    }
    const shown = addedTexts(visible(history));
    const chosen = chooseMemories(await ranking(), {
      input: textIn(content),
      maxTokens: settings.maxTokens ?? TURN_TOKENS,
      isKnown: (memory) => {
        const text = shown.get(`memory ${keyOf(memory)}`);
        // What redaction has changed cannot be compared.
        return text !== undefined && (text === memoryText(memory) || hasMarker(text));
      },
    });
    for (const one of chosen) if (one.isChosen) await add(one, false);
    considered = [...core, ...chosen];
  };

  return {
    port: {
      async search(query, limit) {
        await reload();
        return (await ranking())
          .rank(query)
          .slice(0, limit)
          .map(({ memory }) => memory);
      },
      async write(draft) {
        if (!settings.write) throw notWritable();
        return store.write(draft, { source: `agent ${session}`, labels: labels() });
      },
      async forget(scope, name) {
        if (!settings.write) throw notWritable();
        return store.forget(scope, name);
      },
    },
    tools() {
      if (!settings.enabled) return [];
      return [...(all().length === 0 ? [] : [searchMemories]), ...(settings.write ? [writeMemory, forgetMemory] : [])];
    },
    ready: reload,
    blocks: () => blocks ?? [],
    join,
    considered: () => considered,
    recordTo(next) {
      bus = next;
    },
  };
}

function notWritable(): EffectError {
  return new EffectError("AccessDenied", "the agent may not write memories here: memory.write in config.toml is false");
}

function memoryBlock(memory: Memory): PromptBlock {
  const name = `${memory.scope}/${memory.name}`;
  return { kind: "memory", name, source: memory.source, priority: 0, text: memoryText(memory), active: true };
}

/** Blocks from outside in the conversation, by where they come from; the last one counts. */
export function addedTexts(history: readonly Message[]): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const { role, content } of history) {
    if (role !== "user") continue;
    for (const block of content) {
      if (block.type === "text" && "from" in block && typeof block.from === "string") texts.set(block.from, block.text);
    }
  }
  return texts;
}
