/** What scripts need besides the ports of a call. Whoever puts the program together supplies it; scripts see none of it. */
import type { Clock, Random } from "#base";
import type { HookPoint, ToolOutput } from "#engine";
import type { RunStates } from "./run-state.ts";

/** Where a script runs. */
export type ScriptPoint = Omit<HookPoint, "signal">;

export interface ScriptLine extends ScriptPoint {
  /** `file:line` of the artifact. */
  readonly source: string;
  readonly level: "info" | "warn" | "error";
  readonly message: string;
}

export interface HostFacts {
  /** Arguments of the program as it was started. */
  readonly args: readonly string[];
  readonly hostname: string;
  /** `linux`, `darwin`, `windows`. */
  readonly platform: string;
}

export interface ToolDescriptor {
  readonly name: string;
  readonly description: string;
}

/** The registry behind `meta.*`; absent where a project does not enable it. */
export interface ScriptMeta {
  /** How deep calls of tools by scripts may nest. */
  readonly maxCallDepth: number;
  listTools(pattern: string): readonly ToolDescriptor[];
  /** Rejects when it is refused: a cap, a problem, a taken name, a hook that blocks. */
  register(kind: MetaKind, fields: Readonly<Record<string, unknown>>, at: HookPoint): Promise<void>;
}

export type MetaKind = "tool" | "hook" | "agent";

/** A hook refused a registration. */
export class RegistrationBlocked extends Error {
  override readonly name = "RegistrationBlocked";
  readonly hook: string;

  constructor(hook: string, reason: string) {
    super(`blocked by hook "${hook}": ${reason}`);
    this.hook = hook;
  }
}

export interface ScriptServices {
  readonly clock: Clock;
  readonly random: Random;
  readonly host: HostFacts;
  readonly states: RunStates;
  /** The value of an allowlisted variable. What looks like a credential, or is ours, is not asked for at all. */
  env(name: string): string | undefined;
  /** The secret of that name, or undefined. Called when a script asks; nothing is kept. */
  secret(name: string): string | undefined | Promise<string | undefined>;
  /** One line of a script. Must not throw. */
  log(line: ScriptLine): void;
  /** A `custom.*` event of a script: published, and dispatched to its hooks later. Must not throw. */
  emit(event: string, payload: unknown, at: ScriptPoint): void;
  /** A call that a hook makes, through the whole chain. Absent: hooks may call no tools. */
  callTool?(
    name: string,
    args: Readonly<Record<string, unknown>>,
    at: HookPoint,
    options: { readonly timeoutMs?: number },
  ): Promise<ToolOutput>;
  /** How deep calls of tools by scripts may nest. */
  readonly maxCallDepth: number;
  readonly meta?: ScriptMeta;
}
