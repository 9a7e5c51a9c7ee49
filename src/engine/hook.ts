/**
 * Hooks as the engine sees them: code of the project that is asked at fixed points of a session, and answers allow, block or
 * modify. Which hooks exist and how they are composed is the business of the parts; the engine only knows where they are asked.
 */
import type { FilePort, WebPort } from "#base";
import type { CallId, ClientId, SessionId, TurnId } from "#protocol";
import type { PayloadChanges } from "./payload-changes.ts";

/** Attributes that a hook or a tool adds to the record of what it was asked about. */
export type Attributes = Readonly<Record<string, string | number | boolean>>;

/** Where a hook is asked. */
export interface HookPoint {
  readonly session: SessionId;
  readonly turn?: TurnId;
  readonly step?: number;
  readonly callId?: CallId;
  /** 0 for the root agent. */
  readonly depth: number;
  /** How many calls are around the call that it is asked about; 0 where there is none. */
  readonly nesting: number;
  /** The client whose input started the turn; absent outside one. */
  readonly originator?: ClientId;
  readonly signal: AbortSignal;
}

/** What a hook may reach: it reads and asks, it changes nothing. Bound to one dispatch. */
export interface HookPorts {
  readonly files: Pick<FilePort, "root" | "locate" | "stat" | "read" | "list">;
  readonly web: WebPort;
}

export interface HookCall extends HookPoint {
  /** Canonical name: `tool.pre`. */
  readonly event: string;
  /** JSON data. A hook must not change it; it answers with another one. */
  readonly payload: unknown;
  readonly ports: HookPorts;
  annotate(attributes: Attributes): void;
}

export type HookDecision =
  | { readonly action: "allow" }
  | { readonly action: "block"; readonly reason: string }
  | { readonly action: "modify"; readonly payload: unknown };

/** What a hook that takes too long throws. */
export class HookTimedOut extends Error {
  override readonly name = "HookTimedOut";
  readonly timeoutMs: number;

  constructor(message: string, timeoutMs: number, options?: ErrorOptions) {
    super(message, options);
    this.timeoutMs = timeoutMs;
  }
}

export interface Hook {
  readonly name: string;
  readonly event: string;
  /** `file:line`. */
  readonly source: string;
  /** Those of the machine's policy are asked before all others. */
  readonly tier: "admin" | "project";
  /** Lower is asked first. */
  readonly priority: number;
  /** What a failure means: a guard that cannot do its work blocks. */
  readonly onError: "block" | "allow";
  /** Whether it wants to be asked. Throws when that cannot be told. */
  matches(call: HookCall): boolean;
  /** Throws, or rejects, when it fails, answers nonsense or times out (`HookTimedOut`). Synchronous where the script is. */
  handle(call: HookCall): HookDecision | Promise<HookDecision>;
}

/** Asked at every dispatch, so hooks may come and go between calls. */
export interface HookSource {
  hooks(event: string): readonly Hook[];
}

export type HookVerdict =
  /** `payload` is what came out of all of them; the same object when nobody changed it. */
  | { readonly blocked: false; readonly payload: unknown; readonly attributes: Attributes }
  /** `failed`: it did not say no, it could not do its work. */
  | {
      readonly blocked: true;
      readonly reason: string;
      readonly hook: string;
      readonly source: string;
      readonly failed?: true;
    };

/** Asks the hooks of an event, records what they said, and says what came out. Never throws because of a hook. */
export interface HookDispatcher {
  /** True when nobody listens: the caller need not build a payload. */
  idle(event: string): boolean;
  /** Without `changes` a `modify` may name any field. */
  dispatch(event: string, payload: unknown, at: HookPoint, changes?: PayloadChanges): Promise<HookVerdict>;
}
