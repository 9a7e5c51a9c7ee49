/** One session driven from the terminal: a client in this process that renders events and answers questions. */
import { defined, visibleJson } from "#base";
import { type Control, type ControlClient, createAnswerCollector } from "#control";
import type { TurnSummary } from "#engine";
import type { ContextValues } from "#program";
import {
  type Command,
  type Event,
  forSession,
  ReasonError,
  type ReplyOf,
  type SessionCommandOf,
  type SessionId,
} from "#protocol";
import type { UndoReport, UndoTarget } from "#undo";
import { createAsker } from "./ask.ts";
import type { Outward } from "./outward.ts";
import { createRenderer } from "./renderer.ts";
import type { Terminal } from "./terminal.ts";

export type OutputMode =
  /** Text to standard output as it comes, activity to standard error. */
  | "stream"
  /** Canonical events as JSON lines on standard output. */
  | "json"
  /** Nothing but the final answer, which the command prints. */
  | "answer";

export interface CliSessionOptions {
  readonly control: Control;
  readonly terminal: Terminal;
  readonly outward: Outward;
  readonly output: OutputMode;
  /** Default: where the session was, or the program's own. */
  readonly workingDir?: string;
  readonly model?: string;
  readonly resume?: SessionId;
  /** False: nobody is asked, also on a terminal. */
  readonly interactive?: boolean;
  readonly context?: ContextValues;
}

export interface CliTurn extends TurnSummary {
  readonly answer: string;
}

export type SessionRule = ReplyOf<"ListRules">["result"][number];

export interface CliSession {
  readonly id: SessionId;
  /** Rejects when the input was refused or the log could not be written. */
  send(text: string): Promise<CliTurn>;
  /** Submits the commands of a cassette; each is carried out at its time. The last turn, or the first that went wrong. */
  replay(commands: readonly Command[]): Promise<CliTurn | undefined>;
  /** False when no turn runs. */
  cancel(): boolean;
  setModel(model: string): Promise<void>;
  rules(): Promise<readonly SessionRule[]>;
  /** `keep` writes it into the configuration. Rejects for a rule that no answer has added. */
  changeRule(change: "revoke" | "keep", rule: string): Promise<void>;
  /** Takes back, or makes again, what calls of this session changed. */
  restore(action: "undo" | "redo", target: UndoTarget): Promise<UndoReport>;
  finishLine(): void;
}

export async function openCliSession(options: CliSessionOptions): Promise<CliSession> {
  const { control, terminal, output } = options;
  const renderer = createRenderer(terminal, { answer: output === "stream", activity: output === "stream" });
  const collector = createAnswerCollector();
  const interactive = terminal.interactive && output === "stream" && options.interactive !== false;
  const asker = createAsker({ terminal, outward: options.outward, renderer, client: () => client });

  function onEvent(event: Event): void {
    collector.add(event);
    if (output === "json") terminal.out(`${visibleJson(JSON.stringify(event))}\n`);
    else renderer.show(event);
    if (interactive) asker.handle(event);
  }

  const client: ControlClient = control.connect({ identityClass: "human", interactive, onEvent });
  const { session } = await client.submit({
    kind: "CreateSession",
    ...defined({
      working_dir: options.workingDir,
      model: options.model,
      resume: options.resume,
      context: options.context,
    }),
  });
  let running = false;
  return {
    id: session,
    async send(text) {
      await asker.idle();
      running = true;
      try {
        const { done } = await client.submit({ kind: "SendInput", session, content: [{ type: "text", text }] });
        const summary = await done;
        return { ...summary, answer: collector.text() };
      } finally {
        running = false;
      }
    },
    async replay(commands) {
      const replies = commands.map((command) => client.submit(command));
      let last: TurnSummary | undefined;
      for (const reply of await Promise.allSettled(replies)) {
        // One that was refused in the recording is refused again, and the recording went on.
        const reason: unknown = reply.status === "rejected" ? reply.reason : undefined;
        if (reason instanceof ReasonError && reason.reason === "CassetteMismatch") throw reason;
        const ended = reply.status === "fulfilled" && "done" in reply.value ? await reply.value.done : undefined;
        if (last?.reason !== "CassetteMismatch") last = ended ?? last;
      }
      return last && { ...last, answer: collector.text() };
    },
    cancel() {
      if (running) void client.submit({ kind: "CancelTurn", session });
      return running;
    },
    async setModel(model) {
      await client.submit({ kind: "SetModel", session, model });
    },
    async rules() {
      return (await client.submit({ kind: "ListRules", session })).result;
    },
    async changeRule(change, rule) {
      await client.submit({ kind: change === "revoke" ? "RevokeRule" : "PromoteRule", session, rule });
    },
    async restore(action, target) {
      return (await client.submit(forSession(session, restoreCommand(action, target)))).result;
    },
    finishLine: () => renderer.finishLine(),
  };
}

export function restoreCommand(
  action: "undo" | "redo",
  target: UndoTarget,
): SessionCommandOf<"UndoTurn"> | SessionCommandOf<"UndoCall"> | SessionCommandOf<"Redo"> {
  const named = target === "last" ? {} : "call" in target ? { call_id: target.call } : { turn: target.turn };
  if (action === "redo") return { kind: "Redo", ...named };
  if (target !== "last" && "call" in target) return { kind: "UndoCall", call_id: target.call };
  return { kind: "UndoTurn", ...(target === "last" ? {} : { turn: target.turn }) };
}
