/** Answers permission requests and questions in the terminal, one at a time, through the protocol. */
import type { ControlClient } from "#control";
import type { CommandOf, Decision, Event, EventOf } from "#protocol";
import { paint, type Renderer } from "./renderer.ts";
import { printable, type Terminal } from "./terminal.ts";

export interface Asker {
  /** Takes the events that need an answer; everything else is ignored. */
  handle(event: Event): void;
}

export function createAsker(terminal: Terminal, renderer: Renderer, client: () => ControlClient): Asker {
  let queue: Promise<void> = Promise.resolve();
  /** Aborted when the turn is over: a question nobody waits for any more disappears. */
  let turn = new AbortController();

  function enqueue(ask: () => Promise<void>): void {
    queue = queue.then(ask).catch((error: unknown) => {
      // Answered elsewhere or timed out: the engine has decided, and says so in its own event.
      terminal.err(`${printable(error instanceof Error ? error.message : String(error))}\n`);
    });
  }

  async function permission({ session, payload }: EventOf<"PermissionRequested">): Promise<void> {
    if (turn.signal.aborted) return;
    renderer.finishLine();
    const { call_id, label, summary, reason, argv_glob } = payload;
    terminal.err(
      `${paint(terminal, "bold", `${label} wants to run:`)} ${printable(summary)}\n  ${printable(reason)}\n`,
    );
    const glob = argv_glob === undefined ? "" : `  [g] allow ${printable(argv_glob)} for this session`;
    terminal.err(`  [o] allow once${glob}  [t] allow ${label} for this session  [d] deny\n`);
    const decision = await readDecision(argv_glob !== undefined);
    if (turn.signal.aborted) return;
    await client().submit({ kind: "AnswerPermission", session, call_id, ...decision });
  }

  async function readDecision(
    globOffered: boolean,
  ): Promise<Pick<CommandOf<"AnswerPermission">, "decision" | "reason">> {
    const answers: Record<string, Decision> = {
      o: "allow_once",
      y: "allow_once",
      t: "allow_tool",
      d: "deny",
      n: "deny",
    };
    if (globOffered) answers.g = "allow_argv_glob";
    for (;;) {
      const line = await terminal.readLine("  > ", turn.signal);
      if (line.kind !== "line") return { decision: "deny" };
      const [key = "", ...rest] = line.text.trim().split(/\s+/);
      const decision = answers[key.toLowerCase().slice(0, 1)];
      if (decision === "deny" && rest.length > 0) return { decision, reason: rest.join(" ") };
      if (decision !== undefined) return { decision };
      terminal.err(`  Type ${globOffered ? "o, g, t or d" : "o, t or d"}; "d because …" tells the model why.\n`);
    }
  }

  async function question({ session, payload }: EventOf<"QuestionAsked">): Promise<void> {
    if (turn.signal.aborted) return;
    renderer.finishLine();
    terminal.err(`${paint(terminal, "bold", printable(payload.question))}\n`);
    payload.options?.forEach((option, index) => {
      terminal.err(`  ${index + 1}. ${printable(option)}\n`);
    });
    const line = await terminal.readLine("  > ", turn.signal);
    if (turn.signal.aborted || line.kind !== "line") return;
    const chosen = /^\d+$/.test(line.text.trim()) ? payload.options?.[Number(line.text) - 1] : undefined;
    await client().submit({ kind: "AnswerQuestion", session, call_id: payload.call_id, answer: chosen ?? line.text });
  }

  return {
    handle(event) {
      if (event.kind === "TurnStarted") turn = new AbortController();
      else if (event.kind === "TurnEnded" || event.kind === "Cancelled") turn.abort();
      else if (event.kind === "PermissionRequested") enqueue(() => permission(event));
      else if (event.kind === "QuestionAsked") enqueue(() => question(event));
    },
  };
}
