/**
 * Hooks as the engine sees them: code of the project that is asked at fixed points of a session, and answers allow, block or
 * modify. Which hooks exist and how they are composed is the business of the parts; the engine only knows where they are asked.
 */
import type { FilePort, ProcessExit, ProcessSpec, WebPort } from "#base";
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

/** A program that a hook is: who declared it decides nothing here, the dispatcher confines it. */
export type HookProgram = Omit<ProcessSpec, "confinement" | "mayChangeSteering" | "ownProgram" | "monitor">;

/** What a hook may reach: it reads and asks, it changes nothing. Bound to one dispatch. */
export interface HookPorts {
  readonly files: Pick<FilePort, "root" | "locate" | "stat" | "read" | "list">;
  readonly web: WebPort;
  /** For shell hooks alone: runs the command that the hook is, in the workspace confinement. Scripts do not get it. */
  readonly processes: { run(program: HookProgram, signal: AbortSignal): Promise<ProcessExit> };
}

export interface HookCall extends HookPoint {
  /** Canonical name: `tool.pre`. */
  readonly event: string;
  /** JSON data. A hook must not change it; it answers with another one. */
  readonly payload: unknown;
  readonly ports: HookPorts;
  annotate(attributes: Attributes): void;
}

/** What a hook says besides its decision. */
export interface HookRemarks {
  /** For the model; untrusted content. */
  readonly context?: string;
  /** About the permission question of a call. `allow` never beats a rule, and `ask` always needs a person. */
  readonly permission?: { readonly effect: "allow" | "ask"; readonly reason: string };
  /** The turn ends after this; why. */
  readonly endsTurn?: string;
  /** For the person. */
  readonly message?: string;
  /** The receipt of the program that the hook ran. */
  readonly ran?: HookRun;
}

/** How the program of a hook ended. */
export interface HookRun {
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** Hash of what it printed, as far as it was kept. */
  readonly outputHash: string;
  readonly truncated?: true;
}

export type HookDecision = HookRemarks &
  (
    | { readonly action: "allow" }
    | { readonly action: "block"; readonly reason: string }
    | { readonly action: "modify"; readonly payload: unknown }
  );

/** What a hook that takes too long throws. */
export class HookTimedOut extends Error {
  override readonly name = "HookTimedOut";
  readonly timeoutMs: number;

  constructor(message: string, timeoutMs: number, options?: ErrorOptions) {
    super(message, options);
    this.timeoutMs = timeoutMs;
  }
}

/** What a hook throws whose program ended without a usable answer. */
export class HookFailed extends Error {
  override readonly name = "HookFailed";
  readonly ran: HookRun;

  constructor(message: string, ran: HookRun) {
    super(message);
    this.ran = ran;
  }
}

export interface Hook {
  readonly name: string;
  /** The event as whoever wrote the hook calls it, where that is another name. */
  readonly writtenEvent?: string;
  /** It is a command of the user or of the project; no other hook gets a program started. */
  readonly isProgram?: true;
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

/** Text of one hook for the model. */
export interface HookContext {
  readonly hook: string;
  readonly source: string;
  readonly text: string;
}

/** What a hook said about the permission question of a call. */
export interface HookPermission {
  readonly effect: "allow" | "ask";
  readonly hook: string;
  readonly source: string;
  readonly reason: string;
}

export type HookVerdict =
  /** `payload` is what came out of all of them; the same object when nobody changed it. */
  | {
      readonly blocked: false;
      readonly payload: unknown;
      readonly attributes: Attributes;
      readonly context?: readonly HookContext[];
      /** The strictest of what they said: one that asks beats those that allow. */
      readonly permission?: HookPermission;
      /** The turn ends after this. */
      readonly endsTurn?: { readonly hook: string; readonly reason: string };
    }
  /** `failed`: it did not say no, it could not do its work. */
  | {
      readonly blocked: true;
      readonly reason: string;
      readonly hook: string;
      readonly source: string;
      readonly failed?: true;
      readonly endsTurn?: true;
    };

/** Asks the hooks of an event, records what they said, and says what came out. Never throws because of a hook. */
export interface HookDispatcher {
  /** True when nobody listens: the caller need not build a payload. */
  idle(event: string): boolean;
  /** Without `changes` a `modify` may name any field. */
  dispatch(event: string, payload: unknown, at: HookPoint, changes?: PayloadChanges): Promise<HookVerdict>;
}
