/** Canonical events in the framing of each wire. The JSON of an event that happens is made once, however many clients get it. */
import type { Event, SessionId } from "#protocol";
import { streamEvents } from "#protocol/schemas";
import { eventFrame } from "#wire";

export interface Framing {
  /** On the stream of one session; questions of its delegates come on it, too. */
  sse(event: Event, session: SessionId): string;
  socket(event: Event): string;
}

export function createFraming(): Framing {
  /** One is enough: all clients are told of an event before the next one. A million of a catch-up are not kept for nobody. */
  let last: { readonly event: Event; readonly text: string } | undefined;
  function json(event: Event): string {
    if (last?.event !== event) last = { event, text: JSON.stringify(event) };
    return last.text;
  }
  return {
    sse(event, session) {
      // What is about the stream has no `id:` line: a client that reconnects then asks for what it is missing. Ids of another log mean nothing here.
      const isExpired = event.kind === "StreamGap" && event.payload.reason === "ttl";
      const hasId = event.session === session && (isExpired || !isAboutStream(event));
      return eventFrame({ ...(hasId ? { id: event.id } : {}), event: event.kind, data: json(event) });
    },
    socket: (event) => `{"frame":"event","body":${json(event)}}`,
  };
}

function isAboutStream({ kind }: Event): boolean {
  return streamEvents.some((known) => known === kind);
}
