/**
 * `@path` in what a person says: the file joins the conversation as untrusted content. It is read by a call of `fs.read` through the
 * whole chain, so that the same rules, questions and records hold as for the model. What cannot be read stays a word of the input.
 */
import type { ClientId, IdMint, InputBlock, SessionId, TurnId } from "#protocol";
import type { EventBus } from "./bus.ts";
import type { NestedCall } from "./run-tool.ts";
import { checkingCall } from "./stop-check.ts";

/** Of one input; further ones stay words. */
const MAX_MENTIONS = 20;
const MAX_CHARS = 400_000;
const MENTION = /(?:^|[\s([{"'`,])@(?:"([^"\n]{1,1024})"|([^\s@"'`]{1,1024}))/g;

export type ExpandMentions = (input: MentioningInput) => Promise<void>;

export interface MentioningInput {
  readonly turn: TurnId;
  readonly step: number;
  readonly originator: ClientId;
  readonly content: readonly InputBlock[];
  readonly signal: AbortSignal;
}

export function createMentions(parts: {
  readonly session: SessionId;
  readonly bus: Pick<EventBus, "publish">;
  readonly ids: Pick<IdMint, "call">;
  readonly nested: NestedCall;
}): ExpandMentions {
  const { session, bus, ids, nested } = parts;
  return async ({ content, ...at }) => {
    const around = checkingCall({ ...at, text: "", calls: [] }, session, ids.call(), 0);
    let chars = 0;
    for (const path of mentionedPaths(content)) {
      if (at.signal.aborted || chars > MAX_CHARS) return;
      const { outcome, content: read } = await nested(around, "fs.read", { path }, {});
      if (outcome !== "ok") continue;
      for (const block of read) chars += block.type === "text" ? block.text.length : 0;
      const { turn, originator: by } = at;
      await bus.publish("ContextAdded", { turn, origin: "file", what: path, content: [...read], by });
    }
  };
}

/** Each once, in order. A name without a dot and without a slash is taken for a person, unless it is in quotes. */
export function mentionedPaths(content: readonly InputBlock[]): readonly string[] {
  const found = new Set<string>();
  for (const block of content) {
    if (block.type !== "text") continue;
    for (const [, quoted, bare = ""] of block.text.matchAll(MENTION)) {
      const word = bare.replace(/[.,;:!?)\]}>]+$/, "");
      if (quoted !== undefined) found.add(quoted);
      else if (/[./]/.test(word)) found.add(word);
    }
  }
  return [...found].slice(0, MAX_MENTIONS);
}
