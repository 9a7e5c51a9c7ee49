/** Answers permission requests and questions in the terminal, one at a time, through the protocol. */

import { defined, paint } from "#base";
import type { CallId, Command, CommandOf, Event, EventOf, EventPayload } from "#protocol";
import type { AckQuestion } from "./ack-question.ts";
import { foreignRows, lineRows, showPaged } from "./foreign-rows.ts";
import { fillForm } from "./form-answer.ts";
import type { Outward } from "./outward.ts";
import { permissionQuestion, textsOf, whoAsks } from "./permission-question.ts";
import { questionForm } from "./question-form.ts";
import { type Renderer, summarise } from "./renderer.ts";
import type { QuestionScreen, Terminal } from "./terminal.ts";

export interface Asker {
  /** Takes the events that need an answer; everything else is ignored. */
  handle(event: Event): void;
  /** Resolves when the questions so far are answered or withdrawn. */
  idle(): Promise<void>;
}

export interface AskerParts {
  readonly terminal: Pick<Terminal, "err" | "ask">;
  readonly outward: Pick<Outward, "describe">;
  readonly renderer: Pick<Renderer, "finishLine">;
  readonly client: () => { submit(command: Command): Promise<unknown> };
  readonly reviewAck: AckQuestion;
}

/** The protocol takes no longer reason. */
const REASON_CHARS = 2000;

export function createAsker({ terminal, outward, renderer, client, reviewAck }: AskerParts): Asker {
  let queue: Promise<void> = Promise.resolve();
  /** Open questions by call. Aborted when it is answered elsewhere, times out or the turn ends: the prompt disappears. */
  const open = new Map<CallId, AbortController>();

  function enqueue(callId: CallId, ask: (screen: QuestionScreen, settled: AbortSignal) => Promise<void>): void {
    const settled = new AbortController();
    open.set(callId, settled);
    queue = queue
      .then(async () => {
        if (settled.signal.aborted) return;
        renderer.finishLine();
        await terminal.ask(async (screen) => {
          if (!settled.signal.aborted) await ask(screen, settled.signal);
        });
      })
      .catch(async (error: unknown) => {
        // Answered elsewhere or timed out: the engine has decided, and says so in its own event.
        terminal.err(`${await outward.describe(error)}\n`);
      });
  }

  async function permission(
    screen: QuestionScreen,
    { session, payload }: EventOf<"PermissionRequested">,
    settled: AbortSignal,
  ): Promise<void> {
    const decision = await readDecision(screen, payload, settled);
    if (settled.aborted) return;
    await client().submit({ kind: "AnswerPermission", session, call_id: payload.call_id, ...decision });
  }

  async function question(
    screen: QuestionScreen,
    { session, payload }: EventOf<"QuestionAsked">,
    settled: AbortSignal,
  ): Promise<void> {
    const head = textsOf(lineRows(screen, "", `${whoAsks(payload.delegate)}${askerOf(payload)} asks:`));
    const rows = [...head.map((row) => paint(screen, "bold", row)), ...textsOf(foreignRows(screen, payload.question))];
    screen.show(`${rows.join("\n")}\n`);
    const { call_id } = payload;
    if (payload.plan !== undefined) {
      const answer = await readPlanAnswer(screen, settled);
      if (answer !== undefined) await client().submit({ kind: "AnswerQuestion", session, call_id, answer });
      return;
    }
    if (payload.form !== undefined) {
      const answer = await fillForm(screen, payload.form, settled);
      if (answer !== undefined) await client().submit({ kind: "AnswerQuestion", session, call_id, answer });
      return;
    }
    const options = (payload.options ?? []).flatMap((option, index) =>
      textsOf(lineRows(screen, `  ${index + 1}. `, option)),
    );
    const line = await screen.readAnswer([...options, "  > "].join("\n"), settled);
    if (settled.aborted || line.kind !== "line") return;
    const chosen = /^\d+$/.test(line.text.trim()) ? payload.options?.[Number(line.text) - 1] : undefined;
    await client().submit({ kind: "AnswerQuestion", session, call_id, answer: chosen ?? line.text });
  }

  async function ack(screen: QuestionScreen, event: EventOf<"AckRequested">, settled: AbortSignal): Promise<void> {
    const answer = await reviewAck(screen, event, settled);
    if (answer === undefined) return;
    const { call_id, sha256 } = event.payload;
    await client().submit({
      ...{ kind: "AnswerAck", session: event.session, call_id, answer },
      ...defined({ sha256 }),
    });
  }

  async function orphan(
    screen: QuestionScreen,
    { session, payload }: EventOf<"OrphanedCall">,
    settled: AbortSignal,
  ): Promise<void> {
    const { call_id, name, args, started_at } = payload;
    const rows = [
      paint(screen, "bold", "Cut off:"),
      ...textsOf(foreignRows(screen, `${name} ${summarise(args)}`)),
      ...textsOf(lineRows(screen, "  It did not finish. It started at ", started_at)),
    ];
    screen.show(`${rows.join("\n")}\n`);
    const keys = '  Mark it as: [f] failed  [s] succeeded ("s note" tells the model)  [a] abort the session\n  > ';
    const resolutions = { f: "failed", s: "succeeded", a: "abort" } as const;
    for (;;) {
      const line = await screen.readAnswer(keys, settled);
      if (line.kind !== "line") return;
      const [key = "", ...rest] = line.text.trim().split(/\s+/);
      const resolution = Object.entries(resolutions).find(([letter, word]) =>
        [letter, word].includes(key.toLowerCase()),
      )?.[1];
      if (resolution === undefined) continue;
      const note = rest.length === 0 ? {} : { note: rest.join(" ") };
      await client().submit({ kind: "ResolveOrphan", session, call_id, resolution, ...note });
      return;
    }
  }

  return {
    idle: () => queue,
    handle(event) {
      switch (event.kind) {
        case "OrphanedCall":
          enqueue(event.payload.call_id, (screen, settled) => orphan(screen, event, settled));
          break;
        case "PermissionRequested":
          enqueue(event.payload.call_id, (screen, settled) => permission(screen, event, settled));
          break;
        case "QuestionAsked":
          enqueue(event.payload.call_id, (screen, settled) => question(screen, event, settled));
          break;
        case "AckRequested":
          enqueue(event.payload.call_id, (screen, settled) => ack(screen, event, settled));
          break;
        case "PermissionAnswered":
        case "QuestionAnswered":
        case "AckSettled":
        case "OrphanResolved":
        case "ToolResult":
          open.get(event.payload.call_id)?.abort();
          open.delete(event.payload.call_id);
          break;
        case "TurnEnded":
          for (const settled of open.values()) settled.abort();
          open.clear();
          break;
        default:
      }
    },
  };
}

const PLAN_KEYS =
  "  [a] approve   [e] type the plan as it should be, then a line with a single dot   or say what to change\n  > ";

/** What goes to the agent; undefined when the question was settled elsewhere, or the person has left it. */
async function readPlanAnswer(screen: QuestionScreen, settled: AbortSignal): Promise<string | undefined> {
  for (;;) {
    const line = await screen.readAnswer(PLAN_KEYS, settled);
    if (settled.aborted || line.kind !== "line") return undefined;
    const said = line.text.trim();
    if (/^a(pprove)?$/i.test(said)) return "approve";
    if (!/^e(dit)?$/i.test(said)) {
      if (said !== "") return said;
      continue;
    }
    const lines: string[] = [];
    for (;;) {
      const next = await screen.readAnswer("  │ ", settled);
      if (settled.aborted || next.kind !== "line") return undefined;
      if (next.text.trim() === ".") break;
      lines.push(next.text);
    }
    const plan = lines.join("\n").trim();
    if (plan !== "") return JSON.stringify({ plan });
  }
}

/** Asks until an answer is one of those that were offered; whoever leaves denies. */
async function readDecision(
  screen: QuestionScreen,
  payload: EventOf<"PermissionRequested">["payload"],
  settled: AbortSignal,
): Promise<Pick<CommandOf<"AnswerPermission">, "decision" | "reason">> {
  let before = "";
  let hasSeenAll = false;
  let shownFor = "";
  for (;;) {
    const form = questionForm(screen, permissionQuestion(screen, payload), hasSeenAll);
    const size = `${screen.columns}x${screen.rows}`;
    // A screen of another size has broken the rows of ours elsewhere.
    if (size !== shownFor) screen.show(form.text);
    shownFor = size;
    const line = await screen.readAnswer(before + form.keys, settled);
    if (line.kind !== "line") return { decision: "deny" };
    const [key = "", ...rest] = line.text.trim().split(/\s+/);
    const decision = form.answers.get(key.toLowerCase());
    const isPaste = line.text.includes("\n");
    if (!isPaste && decision === "deny" && rest.length > 0) {
      return { decision, reason: rest.join(" ").slice(0, REASON_CHARS) };
    }
    // Neither a sentence that happens to begin with such a word nor a paste is an answer.
    if (!isPaste && decision !== undefined && rest.length === 0) return { decision };
    if (!isPaste && rest.length === 0 && key.toLowerCase() === "v" && form.pages !== undefined) {
      hasSeenAll = (await showPaged(screen, form.pages, settled)) || hasSeenAll;
      before = form.behindPages;
    } else if (isPaste) {
      const dropped = "Several lines at once are not an answer, so they were dropped.";
      before = `${textsOf(lineRows(screen, "  ", dropped)).join("\n")}\n`;
    } else before = form.hint;
  }
}

function askerOf({ server }: EventPayload<"QuestionAsked">): string {
  return server === undefined ? "The model" : `The MCP server ${server}`;
}
