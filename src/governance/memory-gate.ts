/** The part of the gate for memories: the call is the effect and was judged as that, so it changes what it names and nothing else. */
import { EffectError, type Memory, type MemoryPort } from "#base";
import type { ToolCall } from "#engine";
import { kindOf } from "./known-tools.ts";

interface MemoryGate {
  /** Throws when the call may have no effect any more. */
  readonly check: () => void;
  /** Checks the ticket and records the effect; what it rejects with refuses the change. */
  readonly admitChange: (target: string) => Promise<void>;
  readonly onRecall: (call: ToolCall, memories: readonly Memory[]) => void;
}

export function gatedMemory(
  memory: MemoryPort,
  call: ToolCall,
  { check, admitChange, onRecall }: MemoryGate,
): MemoryPort {
  /** By the judged arguments. */
  async function admit(scope: string, name: string): Promise<void> {
    const { args, tool } = call;
    const isJudged = kindOf(tool.name) === "memory" && args.name === name && (args.scope ?? "project") === scope;
    if (!isJudged) throw new EffectError("AccessDenied", `${tool.name} may not change this memory`);
    await admitChange(`${scope}/${name}`);
  }
  return {
    async search(query, limit) {
      check();
      if (kindOf(call.tool.name) !== "recall")
        throw new EffectError("AccessDenied", `${call.tool.name} may not read memories`);
      const found = await memory.search(query, limit);
      onRecall(call, found);
      return found;
    },
    async write(draft) {
      await admit(draft.scope, draft.name);
      return memory.write(draft);
    },
    async forget(scope, name) {
      await admit(scope, name);
      return memory.forget(scope, name);
    },
  };
}
