/** A provider that plays prepared responses and records what it was asked. For engine tests; the product ships its own. */
import type { ModelCall, ModelEvent, ModelOutcome, ModelRequest, Provider } from "#engine";

export type FakeResponse = (call: ModelCall) => Promise<ModelOutcome> | ModelOutcome;

export const fakeUsage = { input_tokens: 10, output_tokens: 5, cache_read_tokens: 0, cache_write_tokens: 0 };

export function done(stop: "end" | "tool_calls" | "yield" = "end"): ModelOutcome {
  return { type: "done", model: "fake:one", stop, usage: fakeUsage, costUsd: 0.001 };
}

/** Emits the events and ends well. */
export function says(...events: ModelEvent[]): FakeResponse {
  return ({ emit }) => {
    for (const event of events) emit(event);
    return done(events.some((event) => event.type === "tool_call") ? "tool_calls" : "end");
  };
}

export function text(value: string, block = 0): ModelEvent {
  return { type: "text", block, text: value };
}

export function toolCall(name: string, args: unknown, block = 0): ModelEvent {
  return { type: "tool_call", block, name, arguments: typeof args === "string" ? args : JSON.stringify(args) };
}

export function createFakeProvider(responses: FakeResponse[]): Provider & { readonly requests: ModelRequest[] } {
  const requests: ModelRequest[] = [];
  let next = 0;
  return {
    name: "fake",
    requests,
    async chat(call) {
      requests.push(call.request);
      const response = responses[next++];
      if (response === undefined) {
        return { type: "failed", reason: "ScenarioExhausted", message: "no response left", retryable: false };
      }
      return response(call);
    },
    models: async () => [{ id: "fake:one" }],
    countTokens: () => 0,
  };
}
