/** What one row of the method table says, and what it gets to work with. */

import type { z } from "zod";
import type { ControlClient } from "#control";
import type { Redaction } from "#engine";
import type { SessionId } from "#protocol";
import type { OpenThreads } from "./open-threads.ts";
import type { Projection } from "./projection.ts";
import type { RpcOptions } from "./server.ts";
import type { View } from "./shapes.ts";

export interface MethodContext
  extends Pick<RpcOptions, "control" | "store" | "slashCommands" | "directory" | "version"> {
  readonly client: ControlClient;
  readonly threads: OpenThreads;
  readonly projection: Pick<Projection, "askedIn">;
  /** What is told from now on: items, or the events that they are made of. */
  show(view: View): void;
  /** The title of the thread that is made during `work`. */
  titled<Result>(title: string, work: () => Promise<Result>): Promise<Result>;
  readonly outward: { text(text: string): string; value<Value>(value: Value): Value; log(): Redaction["payload"] };
  /** One reader of long histories at a time. */
  reading<Result>(work: () => Promise<Result>): Promise<Result>;
}

export interface Method<Params> {
  readonly params: z.ZodType<Params>;
  /** Requests with the same lane are carried out one after the other. */
  readonly lane: (params: Params) => string | undefined;
  /**
   * `answerFirst`: from now on the answer goes out before any event of the session, and the next request of the lane begins: what
   * is left waits for the log alone.
   */
  run(context: MethodContext, params: Params, answerFirst: (session: SessionId) => void): Promise<object> | object;
}

/** For requests that need not wait for others. */
export const unordered = (): undefined => undefined;

/** A row keeps its own type for its parameters; the table holds it as one that takes what `parseParams` gave. */
export function method<Params>(row: Method<Params>): Method<unknown> {
  return row as unknown as Method<unknown>;
}
