/** Server-sent events: text into events, events into text. Reconnecting, and what an id means, is up to whoever uses it. */
import { createParser } from "eventsource-parser";

export interface StreamEvent {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data: string;
}

export interface EventStreamReaderOptions {
  /** What one event may take; a longer one makes `push` throw. */
  readonly maxEventChars: number;
  /** What it throws comes out of `push`. */
  readonly onEvent: (event: StreamEvent) => void;
  /** Comments are signs of life. */
  readonly onComment?: () => void;
}

/** Takes the text of a stream in pieces of any size. Fields that the standard does not know are passed over. */
export function createEventStreamReader(options: EventStreamReaderOptions): { push(text: string): void } {
  const { maxEventChars, onEvent, onComment } = options;
  const parser = createParser({
    onEvent: ({ id, event, data }) => onEvent({ id, event, data }),
    onComment: () => onComment?.(),
    onError(error) {
      if (error.type === "max-buffer-size-exceeded") throw error;
    },
    maxBufferSize: maxEventChars,
  });
  return { push: (text) => parser.feed(text) };
}

export interface EventFrame {
  readonly id?: string | number;
  readonly event?: string;
  /** May have several lines. */
  readonly data: string;
}

/** Throws when the id or the name has a line end: it would begin a field of its own. */
export function eventFrame({ id, event, data }: EventFrame): string {
  if (/[\r\n]/.test(`${id ?? ""}${event ?? ""}`)) throw new Error("the id or the name of an event has a line end");
  const head = `${id === undefined ? "" : `id: ${id}\n`}${event === undefined ? "" : `event: ${event}\n`}`;
  return `${head}data: ${data.replace(/\r\n|[\r\n]/g, "\ndata: ")}\n\n`;
}

/** A frame that no reader takes for an event. */
export function commentFrame(text: string): string {
  return `: ${text.replace(/[\r\n]/g, " ")}\n\n`;
}
