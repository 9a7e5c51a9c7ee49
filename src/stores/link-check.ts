/** Whether a link of the chain is as it was made: over these events, behind that hash. Pure. */
import type { SessionId } from "#protocol";
import { recomputeLink } from "./evidence.ts";
import { hasContent, isExpired } from "./expired-payload.ts";
import type { ChainedRecord } from "./record.ts";

export interface LinkCheck {
  /** Whether the hash follows from `prev` and the metadata of the events. */
  readonly isLinked: boolean;
  /** Events whose content has expired; their hash stands for it. */
  readonly expired: number;
  /** The first event that may have another content than the one that was hashed. */
  readonly altered: number | undefined;
}

/** `events` are those of one link; the last one carries it. */
export function checkLink(session: SessionId, prev: string, events: readonly ChainedRecord[]): LinkCheck {
  const last = events.at(-1);
  if (last?.link === undefined) throw new Error("the last event of a link carries it");
  const { link } = last;
  const { hash, content } = recomputeLink(session, prev, events, link);
  return { isLinked: hash === link.hash, ...judge(content === link.content, events) };
}

/** Contents of a link go together: when some of it is still there, the rest has not expired but was taken out. */
function judge(isWhole: boolean, events: readonly ChainedRecord[]): Pick<LinkCheck, "expired" | "altered"> {
  if (isWhole) return { expired: 0, altered: undefined };
  const withContent = events.filter(({ kind }) => hasContent(kind));
  const left = withContent.find(({ kind, payload }) => !isExpired(kind, payload));
  if (left !== undefined || withContent.length === 0) return { expired: 0, altered: left?.id ?? events[0]?.id };
  return { expired: withContent.length, altered: undefined };
}
