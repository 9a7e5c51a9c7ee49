/** `/mode`, `/plan`, `/todos` and `/jobs`: what people see and change of the work of a session, for every client. */
import { type Clock, visibleLine, visibleLines } from "#base";
import type { SessionWork } from "#control";
import type { BuiltInRuns, EngineSession, Lasting, SlashCaller } from "#engine";
import { ReasonError } from "#protocol";
import { type BackgroundJobs, type Job, jobLines } from "#tools";
import { type Agreements, modeOf, type SessionMode } from "./agreements.ts";

/** Of what a command printed. */
const SHOWN_CHARS = 8_000;
const MARKS = { pending: "[ ]", active: "[>]", done: "[x]" } as const;

export interface WorkWordsParts {
  readonly agreements: Pick<Agreements, "clearTodos">;
  readonly jobs: BackgroundJobs | undefined;
  readonly lasting: Lasting;
  readonly mode: SessionMode;
  readonly clock: Pick<Clock, "monotonicMs">;
  /** Sessions go on when nobody is attached. */
  readonly isService: boolean;
}

export function workWords({ agreements, jobs, lasting, mode, clock, isService }: WorkWordsParts): BuiltInRuns {
  return {
    mode: () => ({ text: `Mode: ${modeOf(mode)}. To change it: /mode ask|plan|accept-edits` }),
    plan: () => ({ text: planText(lasting) }),
    async todos({ action }, caller) {
      if (action === undefined) return { text: todosText(lasting) };
      requirePerson(caller, "clear the todos");
      await agreements.clearTodos();
      return {};
    },
    jobs: () => ({ text: visibleLines(jobLines(jobs?.list() ?? [], clock.monotonicMs()).join("\n")) }),
    "jobs:output"({ job = "" }) {
      const { printedBytes, read } = find(jobs, job);
      const { next } = read(Number.POSITIVE_INFINITY, 0);
      const { text } = read(Math.max(0, next - SHOWN_CHARS), SHOWN_CHARS);
      return { text: printedBytes === 0 ? "It has printed nothing." : visibleLines(text) };
    },
    async "jobs:stop"({ job = "" }, caller) {
      requirePerson(caller, "stop a background command");
      const { id, end } = find(jobs, job);
      // The event of its end shows the rest; one that has ended has none any more.
      if (end !== undefined) return { text: `${id} has ended already.` };
      await jobs?.stop(id, "by a person");
      return {};
    },
    async "jobs:keep"({ job = "" }, caller) {
      requirePerson(caller, "keep a background command");
      const { id, end } = find(jobs, job);
      if (end !== undefined) throw new ReasonError("InvalidCommand", `${id} has ended`);
      if (!isService) {
        const detail = "this session ends with its program; run it in the daemon (harness attach) to keep commands";
        throw new ReasonError("NotAllowed", detail);
      }
      await jobs?.keep(id, caller.client);
      return { text: `${id} goes on when nobody is attached, until it ends or its time is over.` };
    },
  };
}

/** What session lists show of it. */
export function workOf({
  agent: { engine, jobs },
  mode,
  autoApprove,
}: {
  readonly agent: { readonly engine: Pick<EngineSession, "lasting">; readonly jobs: BackgroundJobs | undefined };
  readonly mode: SessionMode;
  readonly autoApprove: boolean;
}): SessionWork {
  const { proposed, agreed, todos } = engine.lasting;
  const now = modeOf(mode);
  return {
    mode: now === "ask" && autoApprove ? "auto" : now,
    todos,
    plan: proposed !== undefined ? "proposed" : agreed !== undefined ? "agreed" : undefined,
    jobs: jobs?.running ?? 0,
    keptJobs: jobs?.kept ?? 0,
  };
}

function planText({ proposed, agreed, planMode }: Lasting): string {
  const mode = planMode ? "Plan mode is on. " : "";
  if (proposed !== undefined) {
    return `${mode}Proposed; /plan approve, /plan approve NEW TEXT, or /plan reject REASON:\n\n${visibleLines(proposed.plan)}`;
  }
  if (agreed === undefined) return `${mode}There is no plan.`;
  return `${mode}Agreed; /plan done or /plan drop closes it:\n\n${visibleLines(agreed)}`;
}

function todosText({ todos }: Lasting): string {
  if (todos.length === 0) return "No todos.";
  return todos.map(({ text, state }) => `  ${MARKS[state]} ${visibleLine(text)}`).join("\n");
}

/** By its number in the list, its id, or the end of its id. */
function find(jobs: BackgroundJobs | undefined, name: string): Job {
  const all = jobs?.list() ?? [];
  const wanted = name.toUpperCase();
  const found = /^\d{1,2}$/.test(name)
    ? all[Number(name) - 1]
    : all.find(({ id }) => id.toUpperCase().endsWith(wanted));
  if (found !== undefined) return found;
  const detail = `there is no background command ${visibleLine(name).slice(0, 100)}; /jobs lists them`;
  throw new ReasonError("InvalidCommand", detail);
}

function requirePerson({ identityClass }: SlashCaller, deed: string): void {
  if (identityClass !== "human") throw new ReasonError("NotAllowed", `Only a human may ${deed}.`);
}
