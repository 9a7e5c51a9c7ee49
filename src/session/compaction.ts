/** How a session compacts: with the settings of its project or of its delegate, its models, its hooks and its files. */
import { createHash } from "node:crypto";
import { type ContextConfig, contextInForce } from "#artifacts";
import { defined, EffectError, isRecord } from "#base";
import { type CompactionSettings, createCompactor, type SessionCompactor } from "#context";
import type { HookDispatcher, ToolSource } from "#engine";
import { namedPaths } from "#governance";
import { createRereadTool, factsOf } from "#tools";
import type { SessionEngineParts } from "./engine.ts";

const MAX_HASHED_BYTES = 1024 * 1024;
/** A conversation this small is never compacted; nobody asks for the window of its model. */
const MIN_COMPACTED_TOKENS = 2_000;

/** An agent inherits what it does not set. */
export function contextConfig({
  birth,
  place,
  dependencies: { settings },
}: Pick<SessionEngineParts, "birth" | "place" | "dependencies">): ContextConfig {
  const inForce = contextInForce(settings.context, place.runtime?.live.current().config);
  return { ...inForce, ...birth?.spec.context };
}

export function sessionCompactor(parts: SessionEngineParts, hooks: HookDispatcher | undefined): SessionCompactor {
  const { dependencies, depth, world } = parts;
  const { provider, resolve } = dependencies.models;
  return createCompactor({
    settings(): CompactionSettings {
      const { compaction: mode = "summarize", compactionModel: model, maxTokens, maxHistory } = contextConfig(parts);
      return { mode, ...defined({ maxTokens, maxHistory, model }) };
    },
    minTokens: MIN_COMPACTED_TOKENS,
    // Written down where a session is recorded: a replay has to decide the same.
    window(model) {
      const known = world.machine.variable(`context window of ${model}`, () =>
        provider.contextTokens?.(model)?.toString(),
      );
      return known === undefined ? undefined : Number(known);
    },
    resolveModel: resolve,
    depth,
    files: {
      touched(tool, input) {
        const kind = factsOf(tool)?.kind;
        const isFile = kind === "read" || kind === "change";
        return { paths: isFile && isRecord(input) ? namedPaths(tool, input) : [], changed: kind === "change" };
      },
      async hash(path) {
        try {
          const bytes = await world.ports.files.read(path, MAX_HASHED_BYTES);
          return createHash("sha256").update(bytes).digest("hex");
        } catch (error) {
          // Gone, too large, a folder, not to be read: it has no hash, which the list shows.
          if (error instanceof EffectError) return undefined;
          throw error;
        }
      },
    },
    ...defined({ hooks }),
  });
}

/** There once something was removed, for delegates too: it shows an agent nothing but what that agent has seen. */
export function rereadSource({ core, dependencies }: SessionEngineParts, isCompacted: () => boolean): ToolSource {
  const tool = createRereadTool(async (event) => {
    const [found] = await dependencies.store.read(core.id, { after: event - 1, limit: 1 });
    return found?.id === event ? found : undefined;
  });
  return { name: "reread", tools: () => (isCompacted() ? [tool] : []) };
}
