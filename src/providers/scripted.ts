/**
 * The offline model: answers from a scenario, the same way every time, without a network. Not a stand-in for tests only:
 * it goes through the same loop, tools and gate as every other provider.
 */
import { assertNever, type Clock } from "#base";
import type { ModelCall, ModelOutcome, ModelRequest, Provider } from "#engine";
import type { Usage } from "#protocol";
import { type Failure, failure, truncated } from "./failure.ts";
import type { Rule, Scenario } from "./scenario.ts";
import type { Fault, ReplyItem } from "./scenario-reply.ts";
import { describeSituation, fillTemplate, matches, situationOf } from "./scenario-situation.ts";

const NAME = "scripted";
const BYTES_PER_TOKEN = 4;

/** Rules and faults with `times` are counted in this provider; a new one starts afresh. */
export function createScriptedProvider(scenario: Scenario, ports: { readonly clock: Pick<Clock, "sleep"> }): Provider {
  const uses = new Map<Rule | FaultItem, number>();

  /** Counts one use; false when there is none left. */
  const use = (limited: Rule | FaultItem): boolean => {
    const used = uses.get(limited) ?? 0;
    if (limited.times !== undefined && used >= limited.times) return false;
    uses.set(limited, used + 1);
    return true;
  };

  return {
    name: NAME,
    async chat(call) {
      const situation = situationOf(call.request.messages);
      const rule = scenario.rules.find((candidate) => matches(candidate.when, situation) && use(candidate));
      const reply = rule?.reply ?? scenario.otherwise;
      if (reply === undefined) return failure("ScenarioExhausted", false, { detail: describeSituation(situation) });

      const writer = createWriter(call, (template) => fillTemplate(template, situation, rule?.when.input));
      for (const item of reply) {
        if (call.signal.aborted) return failure("Cancelled", false);
        if (item.kind === "pause") await ports.clock.sleep(item.ms, call.signal);
        else if (item.kind !== "fault") writer.write(item);
        else if (use(item)) return faultOutcome(item, call.request, writer.bytes);
      }
      if (call.signal.aborted) return failure("Cancelled", false);
      return {
        type: "done",
        model: call.request.model,
        stop: writer.stop,
        usage: usageOf(call.request, writer.bytes),
        costUsd: 0,
      };
    },
    models: async () => [{ id: `${NAME}:${scenario.name}`, priceUsdPerMillion: { input: 0, output: 0 } }],
    countTokens: (request) => usageOf(request, 0).input_tokens,
  };
}

type FaultItem = Extract<ReplyItem, { kind: "fault" }>;
type WrittenItem = Exclude<ReplyItem, { kind: "fault" | "pause" }>;

/** Turns the items of one reply into model events, one block for each. */
function createWriter({ emit }: ModelCall, fill: (template: string) => string) {
  let block = 0;
  let bytes = 0;
  let stop: Extract<ModelOutcome, { type: "done" }>["stop"] = "end";

  const writeWords = (type: "text" | "thinking", text: string): void => {
    bytes += Buffer.byteLength(text);
    for (const [word] of text.matchAll(/\S+\s*|\s+/g)) emit({ type, block, text: word });
  };

  return {
    write(item: WrittenItem): void {
      switch (item.kind) {
        case "text":
          writeWords("text", fill(item.text));
          break;
        case "thinking": {
          const text = fill(item.text);
          writeWords("thinking", text);
          emit({ type: "thinking_block", block, content: { type: "thinking", provider: NAME, data: { text } } });
          break;
        }
        case "tool": {
          const args = typeof item.args === "string" ? fill(item.args) : JSON.stringify(fillAll(item.args, fill));
          bytes += Buffer.byteLength(item.name) + Buffer.byteLength(args);
          emit({ type: "tool_call", block, name: item.name, arguments: args });
          if (stop === "end") stop = "tool_calls";
          break;
        }
        case "yield":
          emit({ type: "yield", block, ...(item.reason !== undefined && { reason: item.reason }) });
          stop = "yield";
          break;
        default:
          assertNever(item);
      }
      block += 1;
    },
    get bytes() {
      return bytes;
    },
    get stop() {
      return stop;
    },
  };
}

/** The same value with every text in it filled in. */
function fillAll(value: unknown, fill: (template: string) => string): unknown {
  if (typeof value === "string") return fill(value);
  if (Array.isArray(value)) return value.map((item) => fillAll(item, fill));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillAll(item, fill)]));
}

function usageOf(request: ModelRequest, outputBytes: number): Usage {
  const { system, messages, tools } = request;
  return {
    input_tokens: Math.ceil(Buffer.byteLength(JSON.stringify([system, messages, tools])) / BYTES_PER_TOKEN),
    output_tokens: Math.ceil(outputBytes / BYTES_PER_TOKEN),
    cache_read_tokens: 0,
    cache_write_tokens: 0,
  };
}

const FAULT_OUTCOMES: Readonly<Record<Fault, (request: ModelRequest) => Failure>> = {
  rate_limited: () => ({
    type: "failed",
    reason: "RateLimited",
    message: `${NAME} rate-limited the request.`,
    retryable: true,
  }),
  unavailable: () => failure("ProviderUnavailable", true, { provider: NAME, detail: "as the scenario says" }),
  cut: () => failure("ProviderStreamCut", true, { provider: NAME }),
  garbled: () => failure("ProviderGarbled", true, { provider: NAME, detail: "as the scenario says" }),
  timeout: () => failure("ProviderTimeout", true, { provider: NAME, detail: "as the scenario says" }),
  unauthorized: () => failure("ProviderUnauthorized", false, { provider: NAME, status: 401, variable: "the scenario" }),
  content_filter: () => failure("ContentFiltered", false, { provider: NAME }),
  length: ({ maxTokens = 4096 }) => truncated(maxTokens, undefined),
};

function faultOutcome(item: FaultItem, request: ModelRequest, outputBytes: number): Failure {
  return {
    ...FAULT_OUTCOMES[item.fault](request),
    ...(item.retryAfterMs !== undefined && { retryAfterMs: item.retryAfterMs }),
    ...(outputBytes > 0 && { usage: usageOf(request, outputBytes) }),
  };
}
