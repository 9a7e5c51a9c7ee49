/** What happens at the server, for whoever keeps a log of it. Told of no token and no content. */
import type { Channel } from "./access.ts";

export interface HttpObserver {
  /** Somebody asked for something, or sent a frame. */
  asked(): void;
  streamOpened(open: number): void;
  streamClosed(open: number): void;
  refused(refusal: Refusal): void;
}

export interface Refusal {
  readonly method: string;
  /** Without its query. */
  readonly path: string;
  readonly reason: string;
  readonly channel: Channel;
}
