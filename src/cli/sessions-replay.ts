/** `harness sessions replay`: a walk through the events of a session, by keys on a terminal, else all of them in a row. */
import { counted, paint, visibleLine } from "#base";
import { cleanEvent, findSession, type StoreFlags, withStore } from "#program";
import { displayText, type Event, ReasonError } from "#protocol";
import { loadPortability, type Replay, type ReplayFrame } from "#stores";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";
import { summarise } from "./renderer.ts";

const HELP = "Enter next · p previous · t N turn N · s N step N of this turn · e N event N · q leave";

export interface ReplayFlags extends StoreFlags {
  readonly turn?: number;
  readonly json?: boolean;
}

export async function replaySession(ports: CliPorts, name: string, flags: ReplayFlags): Promise<ExitCode> {
  const { terminal } = ports;
  return withStore<ExitCode>(ports, flags, async (store) => {
    const { id } = await findSession(store, name);
    const replay = (await loadPortability()).createReplay(store, id);
    const first = await (flags.turn === undefined ? replay.next() : replay.seek({ turn: flags.turn }));
    if (first === undefined && flags.turn !== undefined) {
      const { length } = await replay.turns();
      throw new ReasonError("UsageInvalid", `${id} has ${counted(length, "turn")}; there is no turn ${flags.turn}.`);
    }
    if (terminal.interactive && flags.json !== true) return walk(ports, replay, first);
    const redact = (await ports.outward.load()).log();
    for (let frame = first; frame !== undefined; frame = await replay.next()) {
      const event = cleanEvent(redact, frame.event);
      terminal.out(`${flags.json ? JSON.stringify(event) : frameLine({ ...frame, event })}\n`);
    }
    return 0;
  });
}

async function walk({ terminal }: CliPorts, replay: Replay, first: ReplayFrame | undefined): Promise<ExitCode> {
  terminal.err(`${paint(terminal, "dim", HELP)}\n`);
  let turn = 0;
  const show = (frame: ReplayFrame | undefined, missing: string): void => {
    if (frame === undefined) {
      terminal.err(`${paint(terminal, "yellow", missing)}\n`);
      return;
    }
    turn = frame.turn;
    terminal.out(`${frameLine(frame)}\n`);
  };
  show(first, "The session has no events.");
  for (;;) {
    const answer = await terminal.readLine("", new AbortController().signal);
    if (answer.kind !== "line") return 0;
    const [key = "", argument = ""] = answer.text.trim().split(/\s+/);
    const number = Number(argument);
    if (key === "q") return 0;
    if (key === "" || key === "n") show(await replay.next(), "This was the last event.");
    else if (key === "p") show(await replay.previous(), "This is the first event.");
    else if (key === "t") show(await replay.seek({ turn: number }), `There is no turn ${argument}.`);
    else if (key === "s") show(await replay.seek({ turn, step: number }), `Turn ${turn} has no step ${argument}.`);
    else if (key === "e") show(await replay.seek({ event: number }), `There is no event ${argument}.`);
    else terminal.err(`${paint(terminal, "dim", HELP)}\n`);
  }
}

function frameLine({ event, turn }: ReplayFrame): string {
  const at = event.ts.slice(11, 23);
  return visibleLine(`${String(event.id).padStart(6)}  ${at}  turn ${turn}  ${event.kind}  ${gist(event)}`).trimEnd();
}

/** What a person would want to know of the event in one line. */
function gist({ kind, payload }: Event): string {
  switch (kind) {
    case "TurnStarted":
      return summarise(displayText(payload.content, " "));
    case "TextDelta":
    case "ThinkingDelta":
    case "ToolCallProgress":
      return summarise(payload.text);
    case "ToolCallStarted":
      return `${payload.label} ${summarise(payload.args)}`;
    case "ToolResult": {
      const text = displayText(payload.content, " ");
      return `${payload.outcome} ${summarise(text)}`;
    }
    case "Error":
      return `${payload.reason}: ${summarise(payload.message)}`;
    default: {
      // The turn stands before it already.
      const { turn: _, ...rest } = { turn: undefined, ...payload };
      return summarise(rest);
    }
  }
}
