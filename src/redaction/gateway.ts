/**
 * The redactor at its three places: results as they come from a tool, events before they are stored and told, requests before a
 * provider gets them. What has passed once is known by its object, so that a long conversation is looked at once and not at
 * every step.
 */
import { programCaches, type SecretFingerprint, textBytes, wordSet } from "#base";
import type { ModelRequest, Redaction, ToolSchema } from "#engine";
import type { Event, EventKind, EventPayload, Message, ToolOutputBlock } from "#protocol";
import { isSummary, summarisePayload } from "./payload-summary.ts";
import type { Redactor } from "./redactor.ts";

/**
 * Fields of events that hold an id, a number, a hash, a time or one of few words of ours, in every event that has them. All
 * others may hold text from anywhere.
 */
export const STRUCTURAL_FIELDS: ReadonlySet<string> = wordSet(
  "active approval args_hash block blocked boundary bytes_received bytes_sent call_id calls change class " +
    "connection cost_usd counts decision depth duration_ms exit_code from in_force is_error limit memoized mode " +
    "more_effects network outcome parent port provider_total_ms provider_ttfb_ms request_middleware_ms resolution " +
    "result_hash retry_after_ms session_total started_at state step steps store_write_ms terminal timeout_ms to " +
    "token total_ms turn turns usage used",
);

export interface RedactionGateway extends Redaction {
  /** A secret that another process holds; what has passed before is looked at again. */
  learn(fingerprint: SecretFingerprint): void;
}

/** Throws nothing itself; each of its methods throws `RedactionFailed`. */
export function createRedactionGateway(
  redactor: Pick<Redactor, "redact" | "redactJson" | "createStreamRedactor" | "learn" | "countMarkers" | "status">,
): RedactionGateway {
  let clean = new WeakMap<object, object>();
  /** Texts of the prompt and of tools; the same at nearly every step. */
  const cleanTexts = programCaches.open<string>("redacted texts");

  function object<T extends object>(value: T): T {
    const known = clean.get(value);
    // Only what `redactJson` made of the same object is kept under it.
    if (known !== undefined) return known as T;
    const { value: redacted } = redactor.redactJson(value);
    clean.set(value, redacted);
    clean.set(redacted, redacted);
    return redacted;
  }

  /** Of a picture, whose data is no text, all but that. */
  function block<T extends Message["content"][number] | ToolOutputBlock>(given: T): T {
    return given.type === "image" ? given : object(given);
  }

  function blocks<T extends Message["content"][number] | ToolOutputBlock>(given: readonly T[]): readonly T[] {
    const redacted = given.map(block);
    return redacted.every((item, index) => item === given[index]) ? given : redacted;
  }

  function text(given: string): string {
    const known = cleanTexts.get(given);
    if (known !== undefined) return known;
    const { text: redacted } = redactor.redact(given);
    cleanTexts.set(given, redacted, textBytes(redacted));
    return redacted;
  }

  function schema(given: ToolSchema): ToolSchema {
    const { name, description, parameters } = given;
    return { name, description: text(description), parameters: object(parameters) };
  }

  return {
    payload: (kind, given) =>
      payloadOf(kind, given, { blocks, text, other: (value) => redactor.redactJson(value).value }),
    output: blocks,
    request(request): ModelRequest {
      return {
        ...request,
        system: request.system.map(text),
        messages: request.messages.map((message) => ({ ...message, content: blocks<never>(message.content as never) })),
        tools: request.tools.map(schema),
      };
    },
    stream: () => redactor.createStreamRedactor(),
    summary: (payload) => summarisePayload(payload, redactor, STRUCTURAL_FIELDS),
    totals() {
      const { policy_version, redacted_count, counts } = redactor.status();
      return { policy_version, redacted_count, counts };
    },
    learn(fingerprint) {
      redactor.learn(fingerprint);
      clean = new WeakMap();
      cleanTexts.clear();
    },
  };
}

interface FieldRedaction {
  readonly text: (given: string) => string;
  readonly blocks: (given: readonly never[]) => readonly unknown[];
  readonly other: (value: unknown) => unknown;
}

function payloadOf<Kind extends EventKind>(
  kind: Kind,
  given: EventPayload<Kind>,
  { blocks, text, other }: FieldRedaction,
): EventPayload<Kind> {
  let changed: Record<string, unknown> | undefined;
  for (const [name, value] of Object.entries(given)) {
    if (STRUCTURAL_FIELDS.has(name)) continue;
    // Its numbers have the names of secrets, and are none.
    if (name === "redaction" && isSummary(value, text)) continue;
    const isContent = name === "content" && Array.isArray(value);
    const redacted = isContent ? blocks(value as never[]) : other(value);
    if (redacted === value) continue;
    changed ??= { ...given };
    // A provider takes its own reasoning back unchanged or not at all.
    if (kind === ("ThinkingDelta" satisfies Event["kind"]) && name === "data") delete changed.data;
    else changed[name] = redacted;
  }
  // The same fields with the same types, but for strings that were replaced.
  return (changed as EventPayload<Kind> | undefined) ?? given;
}
