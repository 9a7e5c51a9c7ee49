/** The tasks of the session with hundreds of them. Each cycle has every kind of work once: calls, a plan, todos, memories, commands. */
import type { AgentStep } from "./long-work-agent.ts";

export const CYCLE = 25;
/** Of ordinary reading, of which about ten fill the window. */
export const READ_FILE = "data.txt";

export interface LongWorkTask {
  readonly name: string;
  readonly input: string;
  readonly steps: readonly AgentStep[];
  /** What a person does, besides sending the input. */
  readonly person?: "plan" | "allow" | "compact";
  /** The agent reports that the plan is carried out. */
  readonly closesPlan?: true;
}

const [AGREED_AT, CLOSED_AT] = [3, 22];

/** Whether a plan is agreed when a task begins. */
export function isPlanned(n: number): boolean {
  return n % CYCLE > AGREED_AT && n % CYCLE <= CLOSED_AT;
}

export function taskOf(n: number): LongWorkTask {
  const [cycle, place] = [Math.floor(n / CYCLE), n % CYCLE];
  const name = `task ${n}`;
  const read: AgentStep = () => ["fs_read", { path: READ_FILE, limit: 1_000 + n }];
  const plain = (input: string, ...steps: readonly AgentStep[]): LongWorkTask => ({
    name,
    input: `${name}: ${input}`,
    steps,
  });
  switch (place) {
    case 1:
      return plain("list what is to be done", () => ["todos", { todos: todosOf(cycle, "pending") }]);
    case 2:
      return plain("remember how this is done", () => ["memory_write", memoryOf(cycle)]);
    case AGREED_AT:
      return {
        ...plain(
          "plan it first",
          () => ["fs_write", { path: `data-${n}.out`, content: "too early" }],
          () => ["plan", { plan: `Proposal ${cycle}` }],
        ),
        person: "plan",
      };
    case 4:
      return plain(
        "measure it and wait",
        () => ["exec", { command: `echo measured ${n}`, background: true }],
        (request) => ["job_read", { job: jobOf(request), wait_ms: 10_000 }],
      );
    case 5:
      return plain("measure it meanwhile", () => ["exec", { command: "sleep 0.3", background: true }], read);
    case 6:
      return plain(`how did we do ${topicOf(cycle)}?`, read);
    case 7:
      return plain("look at it again", (request) => {
        const removed = /reread \{\\+"event\\+": (\d+)\}/.exec(request)?.[1];
        return removed === undefined ? undefined : ["reread", { event: Number(removed) }];
      });
    case 8:
      return plain("clean up", () => ["exec", { command: `rm -rf out-${n}` }]);
    case 9:
      return plain("read it wrongly", () => ["fs_read", {}], read);
    case 10:
      return {
        ...plain("write it elsewhere", () => ["fs_write", { path: `asked-${n}.txt`, content: name }]),
        person: "allow",
      };
    case 12:
      return { ...plain("read it", read), person: "compact" };
    case 18:
      return plain("tick it off", () => ["todos", { todos: todosOf(cycle, "done") }]);
    case 20:
      return plain(`how did we do ${topicOf(0)}?`, read);
    case CLOSED_AT:
      return { ...plain("close the plan", () => ["plan", { done: true }]), closesPlan: true };
    default:
      return plain("read and write", read, () => ["fs_write", { path: `data-${n}.out`, content: `${name}\n` }]);
  }
}

/** What a person makes of the proposal of a cycle. */
export function planOf(cycle: number): string {
  return `Agreed plan ${cycle}, as a person edited it.`;
}

export function memoryName(cycle: number): string {
  return `fact-${cycle}`;
}

function memoryOf(cycle: number): object {
  return {
    name: memoryName(cycle),
    description: `How ${topicOf(cycle)} is done`,
    tags: [topicOf(cycle)],
    keywords: [`do ${topicOf(cycle)}`],
    body: `Number ${cycle}: slowly.`,
  };
}

/** A word that no other cycle has, and none that is nearly the same. */
function topicOf(cycle: number): string {
  const letters = [...String(cycle)].map((digit) => "bdfgklmprs"[Number(digit)]);
  return `${letters.map((letter) => `${letter}o`.repeat(3)).join("")}ware`;
}

function todosOf(cycle: number, state: "pending" | "done"): readonly object[] {
  return ["measure", "write", "check"].map((what) => ({ text: `${what} ${cycle}`, state }));
}

function jobOf(request: string): string {
  return request.match(/job_[0-9A-Z]{26}/g)?.at(-1) ?? "none";
}
