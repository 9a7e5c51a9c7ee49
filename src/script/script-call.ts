/** One run of a script: what its built-ins may reach, and how much they have used. Scripts cannot see it. */
import { cutAtBlank, type FilePort, type ProcessPort, type WebPort } from "#base";
import type { Attributes, HookPorts, ToolOutput } from "#engine";
import type { HostCall } from "#starlark";
import { AsyncTasks } from "./async-tasks.ts";
import type { RunState, TurnValues } from "./run-state.ts";
import type { ScriptPoint, ScriptServices } from "./services.ts";

const MAX_LINES = 200;
const MAX_LINE_CHARS = 4_000;
const MAX_EVENTS = 100;

export interface ScriptCallParts {
  readonly services: ScriptServices;
  readonly point: ScriptPoint;
  /** `file:line` of the artifact. */
  readonly source: string;
  readonly files: HookPorts["files"];
  readonly web: WebPort;
  /** Only tools have these. */
  readonly writable?: FilePort;
  readonly processes?: ProcessPort;
  annotate(attributes: Attributes): void;
  callTool(
    name: string,
    args: Readonly<Record<string, unknown>>,
    options: { readonly timeoutMs?: number; readonly signal?: AbortSignal },
  ): Promise<ToolOutput>;
}

export class ScriptCall {
  readonly parts: ScriptCallParts;
  readonly tasks = new AsyncTasks();
  private lines = 0;
  private events = 0;

  constructor(parts: ScriptCallParts) {
    this.parts = parts;
  }

  get services(): ScriptServices {
    return this.parts.services;
  }

  get state(): RunState {
    return this.services.states.of(this.parts.point.session);
  }

  get values(): TurnValues {
    return this.state.turn(this.parts.point.turn);
  }

  /** Lines beyond the bound are counted, not kept; the first of them says so. */
  log(level: "info" | "warn" | "error", text: string): void {
    this.lines += 1;
    if (this.lines > MAX_LINES + 1) return;
    const message =
      this.lines > MAX_LINES
        ? `more than ${MAX_LINES} lines in one run; the rest is left out`
        : text.length > MAX_LINE_CHARS
          ? `${cutAtBlank(text, MAX_LINE_CHARS)}…`
          : text;
    this.services.log({ ...this.parts.point, source: this.parts.source, level, message });
  }

  emit(event: string, payload: unknown): void {
    this.events += 1;
    if (this.events > MAX_EVENTS) throw new Error(`more than ${MAX_EVENTS} events in one run`);
    this.services.emit(event, payload, this.parts.point);
  }
}

export function scriptCallOf(host: HostCall): ScriptCall {
  if (host.host instanceof ScriptCall) return host.host;
  throw new Error("this function needs a running tool or hook");
}

/** For what waits: aborts with the call. A synchronous call has no signal of its own, and nothing in it waits. */
export function signalOf(host: HostCall): AbortSignal {
  return host.signal ?? new AbortController().signal;
}
