/** What each request of a session that is compacted must have, whatever was removed: an oracle that reads the log and the wire only. */
import { createHash } from "node:crypto";
import type { Event } from "#protocol";

export interface RequestCheckParts {
  /** A word of the system prompt. */
  readonly identity: string;
  /** Of the session, in order; grows. */
  readonly events: readonly Event[];
}

export interface RequestCheck {
  problemsOf(body: unknown): string[];
  /** The signature of a thinking block. */
  signed(thinking: string): string;
}

interface Block {
  readonly type?: string;
  readonly thinking?: string;
  readonly signature?: string;
}

interface WireMessage {
  readonly role?: string;
  readonly content?: string | readonly Block[] | null;
}

export function createRequestCheck({ identity, events }: RequestCheckParts): RequestCheck {
  /** The messages of the last request, each block apart. */
  let before: readonly string[] | undefined;
  let wire: boolean | undefined;
  let readTo = 0;
  const signed = (thinking: string): string => createHash("sha256").update(thinking).digest("base64");

  return {
    signed,
    problemsOf(body) {
      const request = body as { system?: unknown; messages?: readonly WireMessage[] };
      const text = JSON.stringify(request);
      const problems = missingIn(text, events).map((fact) => `${fact} is missing`);
      if (!text.includes(identity)) problems.push("who the agent is is missing");
      problems.push(...wrongReferences(text, events));
      const messages = (request.messages ?? []).filter(({ role }) => role !== "system");
      for (const block of messages.flatMap(blocksOf)) {
        if (block.type === "thinking" && signed(block.thinking ?? "") !== block.signature) {
          problems.push("a thinking block was changed");
        }
      }
      const now = messages.flatMap((message) => blocksOf(message).map((block) => `${message.role} ${plain(block)}`));
      // Another wire has the same blocks in another form; one of the two has the system prompt apart.
      const isOtherWire = wire !== (request.system === undefined);
      wire = request.system === undefined;
      const isNewBeginning = isOtherWire || events.slice(readTo).some(changesThePast);
      readTo = events.length;
      if (before !== undefined && !isNewBeginning) {
        const at = before.findIndex((block, index) => block !== now[index]);
        if (at >= 0)
          problems.push(
            `block ${at} of the last request changed: ${before[at]?.slice(0, 200)} | ${now[at]?.slice(0, 200)}`,
          );
      }
      before = now;
      return problems;
    },
  };
}

function blocksOf({ content }: WireMessage): readonly Block[] {
  if (typeof content === "string") return [{ type: "text", text: content } as Block];
  return content ?? [];
}

/** Without the marks of the provider's cache, which move. */
function plain(block: object): string {
  const { cache_control: _, ...rest } = block as Record<string, unknown>;
  return JSON.stringify(rest);
}

/** The last input, each input of the turn that runs, the agreed plan, the todos, and the files that calls have written. */
function missingIn(request: string, events: readonly Event[]): string[] {
  const wanted = new Map<string, string>();
  const files = new Set<string>();
  const writes = new Map<string, string>();
  let inputs: string[] = [];
  for (const event of events) {
    switch (event.kind) {
      case "TurnStarted":
        if (event.payload.own_command || event.payload.content.length === 0) break;
        inputs = [markOf(event.payload.content)];
        break;
      case "TurnSteered":
        inputs.push(markOf(event.payload.content));
        break;
      case "PlanChanged":
        wanted.delete("plan");
        if (event.payload.state === "agreed")
          wanted.set("plan", /FACT-plan-\d+/.exec(event.payload.plan ?? "")?.[0] ?? "");
        break;
      case "TodosChanged":
        wanted.delete("todos");
        if (event.payload.todos[0] !== undefined) wanted.set("todos", event.payload.todos[0].text);
        break;
      case "ToolCallStarted": {
        const path = (event.payload.args as { path?: unknown } | undefined)?.path;
        if (event.payload.name === "fs.write" && typeof path === "string") writes.set(event.payload.call_id, path);
        break;
      }
      case "ToolResult":
        if (!event.payload.is_error && writes.has(event.payload.call_id)) files.add(writes.get(event.payload.call_id)!);
        break;
      default:
    }
  }
  return [...inputs, ...wanted.values(), ...files].filter((fact) => !new RegExp(`${fact}(?!\\d)`).test(request));
}

function markOf(content: readonly object[]): string {
  return /SAID-\d+-/.exec(JSON.stringify(content))?.[0] ?? "";
}

/** A reference has to name an event that `reread` gives. */
function wrongReferences(request: string, events: readonly Event[]): string[] {
  const kinds = new Set(["ToolResult", "TurnStarted", "TurnSteered", "ContextAdded"]);
  const known = new Map(events.map((event) => [event.id, event.kind]));
  return [...request.matchAll(/\[harness: [^\]]{0,120}reread \{\\+"event\\+": (\d+)\}/g)].flatMap(([, number]) => {
    const kind = known.get(Number(number));
    return kind !== undefined && kinds.has(kind) ? [] : [`a reference names event ${number}, which is ${kind}`];
  });
}

/** A compaction, and an answer that is void because it is asked for again. */
function changesThePast({ kind, payload }: Event): boolean {
  return kind === "CompactionTriggered" || (kind === "Error" && !payload.terminal);
}
