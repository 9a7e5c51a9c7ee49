/** A transport of the SDK with what supervising it needs besides. */
import type { Transport } from "@modelcontextprotocol/client";
import type { EffectError } from "#base";

export interface OpenTransport {
  readonly transport: Transport;
  /** Resolves to the reason when the connection is over, for whatever reason. */
  readonly closed: Promise<string>;
  /** The same, as far as it is over. */
  reason(): string | undefined;
  /** The last request that could not be sent, where the SDK would say only that it failed. */
  fault?(): EffectError | undefined;
  /** Ends it at once, with its process group if it has one. */
  kill(reason: string): void;
}
