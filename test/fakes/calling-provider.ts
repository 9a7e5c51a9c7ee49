/** A provider that asks for calls until there are none left, then ends the turn. */
import type { ModelCall, Provider } from "#engine";

export type WantedCall = readonly [name: string, args: object];

const usage = { input_tokens: 1, output_tokens: 1, cache_read_tokens: 0, cache_write_tokens: 0 };

/** Its model is `calling:one`. `next` gives the calls of a step; none ends the turn. */
export function callingProvider(next: () => readonly WantedCall[]): Provider {
  return {
    name: "calling",
    async chat({ request, emit }: ModelCall) {
      const done = { type: "done", model: request.model, usage } as const;
      const calls = next();
      for (const [block, [name, args]] of calls.entries()) {
        emit({ type: "tool_call", block, name, arguments: JSON.stringify(args) });
      }
      if (calls.length > 0) return { ...done, stop: "tool_calls" };
      emit({ type: "text", block: 0, text: "done" });
      return { ...done, stop: "end" };
    },
    models: async () => [],
    countTokens: () => 0,
  };
}
