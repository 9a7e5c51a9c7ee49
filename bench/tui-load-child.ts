/** The interface of bench/tui-load.ts on the terminal of its process: 200 deltas a second, and a tool that prints 1 MB a second. */
import type { ClientSession, Event } from "#client";
import { createProcessScreen, runInterface } from "#tui";
import { createSystemClock } from "#world";
import { interfaceParts } from "../test/fakes/interface-parts.ts";

const DELTAS_PER_SECOND = 200;
const BYTES_PER_SECOND = 1_000_000;
const PROGRESS_PER_SECOND = 100;
const TICK_MS = 5;
const clock = createSystemClock();
const stop = new AbortController();
process.on("SIGTERM", () => stop.abort());
const line = `${"output of a tool that prints a lot, ".repeat(3)}\n`;
const output = line.repeat(Math.ceil(BYTES_PER_SECOND / PROGRESS_PER_SECOND / line.length));
const words =
  "the writer changes only the live region and `leaves` the rest to the terminal, **which** keeps it ".split(" ");

function envelope(id: number, kind: string, payload: unknown): Event {
  return { id, kind, payload, session: "sess_01GOLDEN", ts: new Date().toISOString() } as unknown as Event; // what the fold reads
}

async function* events(): AsyncGenerator<Event> {
  const turn = "t";
  let id = 0;
  const call = { turn, step: 1, block: 0, call_id: "c", name: "exec", label: "Bash", args: { command: "make" } };
  yield envelope(++id, "TurnStarted", { turn, content: [{ type: "text", text: "go" }], model: "m" });
  yield envelope(++id, "ToolCallStarted", call);
  const begin = performance.now();
  for (let deltas = 0, printed = 0; !stop.signal.aborted; ) {
    const seconds = (performance.now() - begin) / 1000;
    for (; printed < seconds * PROGRESS_PER_SECOND; printed++) {
      yield envelope(++id, "ToolCallProgress", { turn, call_id: "c", text: output });
    }
    for (; deltas < seconds * DELTAS_PER_SECOND; deltas++) {
      const text = `${words[deltas % words.length]}${deltas % 40 === 39 ? "\n\n" : " "}`;
      yield envelope(++id, "TextDelta", { turn, step: 2, block: 0, text });
    }
    await clock.sleep(TICK_MS);
  }
}

const submit = async (): Promise<never> => {
  throw new Error("the bench has no facts");
};
const session = { id: "sess_01GOLDEN", events, submit } as unknown as ClientSession; // what it asks of a session
const parts = interfaceParts("dark", session);
await runInterface({ ...parts, screen: createProcessScreen(process), clock, signal: stop.signal });
