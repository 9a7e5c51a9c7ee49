/** Answers permission requests and questions in the terminal, one at a time, through the protocol. */
import type { CallId, Command, CommandOf, Decision, Event, EventOf } from "#protocol";
import type { Outward } from "./outward.ts";
import { paint, type Renderer, summarise } from "./renderer.ts";
import { printable, type Terminal } from "./terminal.ts";

export interface Asker {
  /** Takes the events that need an answer; everything else is ignored. */
  handle(event: Event): void;
  /** Resolves when nothing is asked any more. */
  idle(): Promise<void>;
}

export interface AskerParts {
  readonly terminal: Terminal;
  readonly outward: Outward;
  readonly renderer: Renderer;
  readonly client: () => { submit(command: Command): Promise<unknown> };
}

export function createAsker({ terminal, outward, renderer, client }: AskerParts): Asker {
  let queue: Promise<void> = Promise.resolve();
  /** Open questions by call. Aborted when it is answered elsewhere, times out or the turn ends: the prompt disappears. */
  const open = new Map<CallId, AbortController>();

  function enqueue(callId: CallId, ask: (settled: AbortSignal) => Promise<void>): void {
    const settled = new AbortController();
    open.set(callId, settled);
    queue = queue
      .then(() => ask(settled.signal))
      .catch(async (error: unknown) => {
        // Answered elsewhere or timed out: the engine has decided, and says so in its own event.
        terminal.err(`${await outward.describe(error)}\n`);
      });
  }

  async function permission({ session, payload }: EventOf<"PermissionRequested">, settled: AbortSignal): Promise<void> {
    if (settled.aborted) return;
    renderer.finishLine();
    const { call_id, summary, reason, argv_glob } = payload;
    const label = printable(payload.label);
    terminal.err(
      `${paint(terminal, "bold", `${whoAsks(payload.delegate)}${label} wants to run:`)} ${printable(summary)}\n  ${printable(reason)}\n`,
    );
    terminal.err(describeArguments(payload.args, summary));
    const glob = argv_glob === undefined ? "" : `  [g] allow ${printable(argv_glob)} for this session`;
    terminal.err(`  [o] allow once${glob}  [t] allow ${label} for this session  [d] deny\n`);
    const decision = await readDecision(argv_glob !== undefined, settled);
    if (settled.aborted) return;
    await client().submit({ kind: "AnswerPermission", session, call_id, ...decision });
  }

  async function readDecision(
    globOffered: boolean,
    settled: AbortSignal,
  ): Promise<Pick<CommandOf<"AnswerPermission">, "decision" | "reason">> {
    const answers = new Map<string, Decision>([
      ["o", "allow_once"],
      ["once", "allow_once"],
      ["t", "allow_tool"],
      ["tool", "allow_tool"],
      ["d", "deny"],
      ["deny", "deny"],
      ["n", "deny"],
      ["no", "deny"],
    ]);
    if (globOffered) answers.set("g", "allow_argv_glob").set("glob", "allow_argv_glob");
    for (;;) {
      const line = await terminal.readLine("  > ", settled);
      if (line.kind !== "line") return { decision: "deny" };
      const [key = "", ...rest] = line.text.trim().split(/\s+/);
      const decision = answers.get(key.toLowerCase());
      if (decision === "deny" && rest.length > 0) return { decision, reason: rest.join(" ") };
      // A sentence that happens to begin with such a word is not an answer.
      if (decision !== undefined && rest.length === 0) return { decision };
      terminal.err(`  Type ${globOffered ? "o, g, t or d" : "o, t or d"}; "d because …" tells the model why.\n`);
    }
  }

  async function question({ session, payload }: EventOf<"QuestionAsked">, settled: AbortSignal): Promise<void> {
    if (settled.aborted) return;
    renderer.finishLine();
    terminal.err(`${paint(terminal, "bold", `${whoAsks(payload.delegate)}${printable(payload.question)}`)}\n`);
    payload.options?.forEach((option, index) => {
      terminal.err(`  ${index + 1}. ${printable(option)}\n`);
    });
    const line = await terminal.readLine("  > ", settled);
    if (settled.aborted || line.kind !== "line") return;
    const chosen = /^\d+$/.test(line.text.trim()) ? payload.options?.[Number(line.text) - 1] : undefined;
    await client().submit({ kind: "AnswerQuestion", session, call_id: payload.call_id, answer: chosen ?? line.text });
  }

  async function orphan({ session, payload }: EventOf<"OrphanedCall">, settled: AbortSignal): Promise<void> {
    const { call_id, name, args, started_at } = payload;
    const what = `${name} ${summarise(args)}`;
    terminal.err(
      `${paint(terminal, "bold", "Cut off:")} ${printable(what)}\n  It started at ${printable(started_at)} and did not finish.\n`,
    );
    terminal.err('  Mark it as: [f] failed  [s] succeeded ("s note" tells the model)  [a] abort the session\n');
    const resolutions = { f: "failed", s: "succeeded", a: "abort" } as const;
    for (;;) {
      const line = await terminal.readLine("  > ", settled);
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
          enqueue(event.payload.call_id, (settled) => orphan(event, settled));
          break;
        case "PermissionRequested":
          enqueue(event.payload.call_id, (settled) => permission(event, settled));
          break;
        case "QuestionAsked":
          enqueue(event.payload.call_id, (settled) => question(event, settled));
          break;
        case "PermissionAnswered":
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

/** Nothing for the root agent. */
function whoAsks(delegate: EventOf<"PermissionRequested">["payload"]["delegate"]): string {
  if (delegate === undefined) return "";
  return `[delegate ${printable(delegate.agent || "without a name")}, depth ${delegate.depth}] `;
}

const SHOWN_ARGUMENT_LINES = 20;

/** Every argument besides the one that the summary is, such as the text to be written or another folder; bounded. */
function describeArguments(args: unknown, summary: string): string {
  if (typeof args !== "object" || args === null) return "";
  const others = Object.entries(args).filter(([, value]) => value !== summary);
  return others
    .map(([key, value]) => {
      const lines = printable(typeof value === "string" ? value : JSON.stringify(value)).split("\n");
      if (lines.length === 1) return `  ${key}: ${lines[0]}\n`;
      const shown = lines.slice(0, SHOWN_ARGUMENT_LINES).map((line) => `    ${line}`);
      const more = lines.length - shown.length;
      return `  ${key}:\n${shown.join("\n")}\n${more > 0 ? `    … ${more} more lines\n` : ""}`;
    })
    .join("");
}
