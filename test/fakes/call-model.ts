/** Runs one model call to its end and keeps what it emitted; plus the smallest request and deterministic ports. */
import type { Random } from "#base";
import type { CredentialPort, ModelCall, ModelEvent, ModelOutcome, ModelRequest, Provider } from "#engine";
import { createHeldKeys } from "#providers";
import { createManualClock, type ManualClock } from "./manual-clock.ts";

export interface ModelTranscript {
  readonly events: readonly ModelEvent[];
  readonly outcome: ModelOutcome;
}

export async function callModel(
  provider: Provider,
  request: ModelRequest,
  signal: AbortSignal = new AbortController().signal,
  rest: Pick<ModelCall, "needsPrice"> = {},
): Promise<ModelTranscript> {
  const events: ModelEvent[] = [];
  const outcome = await provider.chat({ request, emit: (event) => events.push(event), signal, ...rest });
  return { events, outcome };
}

export function userRequest(model: string, rest: Partial<ModelRequest> = {}): ModelRequest {
  return {
    model,
    system: [],
    messages: [{ role: "user", content: [{ type: "text", text: "hello" }] }],
    tools: [],
    ...rest,
  };
}

/** Random bytes that are all zero: backoffs come out at their smallest. */
export const zeroRandom: Random = { bytes: (count) => new Uint8Array(count) };

export interface TestPorts {
  readonly env: Readonly<Record<string, string>>;
  readonly credentials: CredentialPort;
  readonly clock: ManualClock;
  readonly random: Random;
}

const key = "sk-test-0123456789";
const allKeys = {
  ANTHROPIC_API_KEY: key,
  OPENAI_API_KEY: key,
  OPENROUTER_API_KEY: key,
  ZAI_API_KEY: key,
  GH_TOKEN: key,
};

/** Every key that a vendor asks for is set, unless the test says otherwise. */
export function testPorts(env: Readonly<Record<string, string>> = allKeys): TestPorts {
  return { env, credentials: createHeldKeys(env), clock: createManualClock(), random: zeroRandom };
}
