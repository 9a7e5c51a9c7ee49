/** Canonical events in the framing of each wire. The JSON of an event is made once, however many clients get it. */
import type { Event, SessionId } from "#protocol";
import { streamEvents } from "#protocol/schemas";

export interface Framing {
  /** On the stream of one session; questions of its delegates come on it, too. */
  sse(event: Event, session: SessionId): string;
  socket(event: Event): string;
}

export function createFraming(): Framing {
  const texts = new WeakMap<Event, string>();
  function json(event: Event): string {
    const known = texts.get(event);
    if (known !== undefined) return known;
    const text = JSON.stringify(event);
    texts.set(event, text);
    return text;
  }
  return {
    sse(event, session) {
      // What is about the stream has no `id:` line: a client that reconnects then asks for what it is missing. Ids of another log mean nothing here.
      const isExpired = event.kind === "StreamGap" && event.payload.reason === "ttl";
      const hasId = event.session === session && (isExpired || !isAboutStream(event));
      const id = hasId ? `id: ${event.id}\n` : "";
      return `${id}event: ${event.kind}\ndata: ${json(event)}\n\n`;
    },
    socket: (event) => `{"frame":"event","body":${json(event)}}`,
  };
}

function isAboutStream({ kind }: Event): boolean {
  return streamEvents.some((known) => known === kind);
}
