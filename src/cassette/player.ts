/**
 * Plays a cassette: gives back what came from outside, in the order in which it came, to whoever asks for the same again. Anything
 * else that is asked for, or not asked for, is a CassetteMismatch, and from then on nothing is given. Opens no connection and
 * starts no program.
 */
import { type Command, ReasonError } from "#protocol";
import type { Cassette, Entry, EntryOf } from "./entries.ts";
import { firstDifference, mismatch, valueText } from "./mismatch.ts";
import { type CassetteRedactor, withPlainMarkers } from "./secrets.ts";
import { createSeededRandom } from "./seeded-random.ts";
import { type Exchange, fromFailed, PLAYED_KINDS, type Tape } from "./tape.ts";
import { createTurnstile, type Due } from "./turnstile.ts";

/** Nothing moves for so long: the session does not do what the cassette says comes next. */
const STALL_MS = 10_000;
/** The same when the program is about to end. */
const END_STALL_MS = 250;

interface Waiting {
  readonly hear: (said: unknown) => void | Promise<void>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface AskState {
  readonly entry: EntryOf<"ask">;
  readonly line: number;
  isTaken: boolean;
  waiting?: Waiting;
}

interface CommandState {
  readonly command: Command;
  readonly line: number;
  readonly isPlayed: boolean;
  carryOut?: () => void;
}

type Step =
  | { readonly type: "ask"; readonly at: number; readonly state: AskState; readonly line: number }
  | { readonly type: "said"; readonly at: number; readonly state: AskState; readonly what: unknown }
  | { readonly type: "end"; readonly at: number; readonly state: AskState; readonly entry: EntryOf<"end"> }
  | { readonly type: "note"; readonly at: number; readonly entry: EntryOf<"note"> }
  | { readonly type: "command"; readonly at: number; readonly client: number; readonly state: CommandState }
  | { readonly type: "shutdown"; readonly at: number; readonly line: number };

export interface PlayerOptions {
  readonly cassette: Cassette;
  /** Loaded when something differs: it may be a secret. */
  readonly redactor: () => Promise<CassetteRedactor>;
}

export function createPlayer({ cassette, redactor }: PlayerOptions): Tape {
  const { file, head } = cassette;
  const { steps, asks, commands, clients, facts } = readEntries(cassette);
  const submits = new Map<number, (command: Command) => Promise<unknown>>();
  const notes = new Map<string, (note: unknown) => Promise<void>>();
  let at = 0;
  let connected = 0;
  let failure: ReasonError | undefined;
  let isTold = false;
  let shutdown: (() => void) | undefined;
  let stall: NodeJS.Timeout | undefined;

  const turnstile = createTurnstile({ startMs: Date.parse(head.started), next, onIdle });

  function next(nowMs: number): Due {
    clearTimeout(stall);
    if (failure !== undefined) return { at: nowMs };
    for (let step = steps[at]; step !== undefined; step = steps[at]) {
      if (step.type !== "ask") return due(step);
      if (!step.state.isTaken) return { at: step.at };
      at += 1;
    }
    // What still sleeps slept on when the recording had ended.
    return { at: Number.POSITIVE_INFINITY };
  }

  function due(step: Exclude<Step, { type: "ask" }>): Due {
    const deliver = delivery(step);
    if (deliver === undefined) return { at: step.at };
    return {
      at: step.at,
      deliver() {
        at += 1;
        deliver();
      },
    };
  }

  function delivery(step: Exclude<Step, { type: "ask" }>): (() => void) | undefined {
    switch (step.type) {
      case "said":
        // A turn that was cancelled may have left: what is said goes nowhere, as it did then.
        return () => void Promise.resolve(step.state.waiting?.hear(step.what)).catch(() => undefined);
      case "end": {
        const { failed, result } = step.entry;
        return () =>
          failed === undefined ? step.state.waiting?.resolve(result) : step.state.waiting?.reject(fromFailed(failed));
      }
      case "note":
        return () => void notes.get(step.entry.session)?.(step.entry.note);
      case "command": {
        const { isPlayed, command, carryOut } = step.state;
        if (!isPlayed) return carryOut;
        const submit = submits.get(step.client);
        // One that was refused then is refused now.
        return submit && (() => void submit(command).catch(() => undefined));
      }
      case "shutdown":
        return shutdown;
    }
  }

  /** The caller may take its time with the next command; everything else comes by itself or not at all. */
  function onIdle(): void {
    if (failure !== undefined) return;
    const step = steps[at];
    if (step === undefined) return;
    const isCallers = step.type === "shutdown" || (step.type === "command" && !step.state.isPlayed);
    if (isCallers && shutdown === undefined) return;
    stall = setTimeout(() => fail(unused(step)), shutdown === undefined ? STALL_MS : END_STALL_MS);
  }

  function unused(step: Step): ReasonError {
    return new ReasonError("CassetteMismatch", {
      place: placeOf(step),
      detail: `the session ended early: it did not reach ${whatIs(step)}`,
    });
  }

  function placeOf(step: Step): string {
    const line =
      step.type === "command" || "state" in step ? step.state.line : step.type === "shutdown" ? step.line : 1;
    return `${file}:${line}`;
  }

  function fail(error: ReasonError): ReasonError {
    if (failure !== undefined) return failure;
    failure = error;
    for (const { waiting } of asks) waiting?.reject(failure);
    turnstile.open();
    shutdown?.();
    return failure;
  }

  function ranOut(what: string): ReasonError {
    const line = cassette.lines.at(-1) ?? 1;
    return new ReasonError("CassetteMismatch", {
      place: `${file}:${line}`,
      detail: `the recording has ended: ${what} is not on it`,
    });
  }

  /** The ask on the cassette that this is; of what may run side by side, the one that asks for the same. */
  async function take({ of, session, request }: Exchange<never, never>): Promise<AskState> {
    const open = asks.filter(({ isTaken, entry }) => !isTaken && entry.of === of && entry.session === session);
    const inOrder = of === "model" || of === "model-name";
    const candidates = inOrder ? open.slice(0, 1) : open;
    const same = candidates.find(({ entry }) => firstDifference(entry.request, request) === undefined);
    if (same !== undefined) return same;
    const { json } = await turnstile.inside(redactor);
    const clean = json(request);
    const redacted = candidates.find(({ entry, isTaken }) => !isTaken && sameButForSecrets(entry.request, clean));
    if (redacted !== undefined) return redacted;
    const [nearest] = candidates;
    if (nearest === undefined) throw fail(ranOut(`${describe(of)} ${valueText(summary(of, clean))}`));
    throw fail(mismatch(`${file}:${nearest.line}`, nameOf(nearest), nearest.entry.request, clean));
  }

  function nameOf({ entry }: AskState): string {
    const before = asks.filter((ask) => ask.entry.of === entry.of && ask.entry.session === entry.session);
    const number = before.findIndex((ask) => ask.entry === entry) + 1;
    return `${describe(entry.of)} ${number}`;
  }

  function whatIs(step: Step): string {
    if (step.type === "command") return `the command ${step.state.command.kind}`;
    return "state" in step ? nameOf(step.state) : `the ${step.type}`;
  }

  const tape: Tape = {
    mode: "replay",
    head,
    commands: steps.flatMap((step) => (step.type === "command" && !step.state.isPlayed ? [step.state.command] : [])),
    clock: turnstile.clock,
    random: createSeededRandom(head.seed),
    schedule: turnstile.schedule,
    inside: turnstile.inside,
    async exchange<Said, Result>(exchange: Exchange<Said, Result>): Promise<Result> {
      try {
        if (failure !== undefined) throw failure;
        // What is taken is the same request, so what was said to it is what this one understands.
        const state = await take(exchange as unknown as Exchange<never, never>);
        state.isTaken = true;
        return await new Promise<Result>((resolve, reject) => {
          const hear = exchange.hear as Waiting["hear"];
          state.waiting = { hear, resolve: resolve as Waiting["resolve"], reject };
          turnstile.wake();
        });
      } catch (error) {
        if (error === failure && exchange.of === "model") isTold = true;
        throw error;
      }
    },
    note: () => Promise.reject(new Error("a replay has no outside")),
    onNote(session, handle) {
      notes.set(session, handle);
    },
    fact({ session, name, isOptional }, about) {
      const known = facts.get(JSON.stringify([session, name, about]));
      if (known === undefined && isOptional === true) return undefined;
      if (known === undefined) throw fail(ranOut(`the fact ${name} of ${valueText(about)}`));
      known.reads += 1;
      return known.values.findLast(({ since }) => since <= known.reads)?.value ?? undefined;
    },
    secret: (name, about, read) => tape.fact(name, about, read),
    connect(given) {
      const client = clients[connected];
      connected += 1;
      if (client === undefined) throw fail(ranOut(`client ${connected}`));
      const { identity, interactive } = client;
      if (identity !== given.identityClass) {
        throw fail(mismatch(file, `client ${connected}`, { identity }, { identity: given.identityClass }));
      }
      const number = connected;
      return {
        client: number,
        identityClass: identity,
        interactive,
        carryOut: (submit) => void submits.set(number, submit),
      };
    },
    async command<Reply>(client: number, command: Command, run: (command: Command) => Promise<Reply>): Promise<Reply> {
      // A person does it in the recording; whoever watches the replay need not.
      if (PLAYED_KINDS.includes(command.kind)) return {} as Reply;
      try {
        if (failure !== undefined) throw failure;
        const state = commands.get(client)?.shift();
        if (state === undefined) throw fail(ranOut(`the command ${command.kind}`));
        if (firstDifference(state.command, command) !== undefined) {
          const { json } = await turnstile.inside(redactor);
          const clean = json(command);
          if (!sameButForSecrets(state.command, clean)) {
            throw fail(mismatch(`${file}:${state.line}`, `the command ${command.kind}`, state.command, clean));
          }
        }
        return await new Promise<Reply>((resolve, reject) => {
          // As it is on the cassette, without its secrets: the log comes out the same.
          state.carryOut = () => void run(state.command).then(resolve, reject);
          turnstile.wake();
        });
      } catch (error) {
        if (error === failure) isTold = true;
        throw error;
      }
    },
    shutdown: (run) =>
      new Promise((resolve, reject) => {
        let isRun = false;
        shutdown = () => {
          if (isRun) return;
          isRun = true;
          run().then(resolve, reject);
        };
        if (failure === undefined) turnstile.wake();
        else shutdown();
      }),
    async finish() {
      clearTimeout(stall);
      turnstile.open();
      // An answer that came when nobody waited for it any more is none that is missing.
      const left = steps.slice(at).find(({ type }) => type === "ask" || type === "command" || type === "shutdown");
      if (failure === undefined && left !== undefined) fail(unused(left));
      if (failure !== undefined && !isTold) throw failure;
    },
  };
  return tape;
}

function sameButForSecrets(recorded: unknown, clean: unknown): boolean {
  return firstDifference(withPlainMarkers(recorded), withPlainMarkers(clean)) === undefined;
}

interface Fact {
  readonly values: { readonly since: number; readonly value: string | null }[];
  reads: number;
}

function readEntries({ entries, lines }: Cassette) {
  const steps: Step[] = [];
  const asks: AskState[] = [];
  const commands = new Map<number, CommandState[]>();
  const clients: EntryOf<"client">[] = [];
  const facts = new Map<string, Fact>();
  const askOf = (ask: number): AskState => {
    const state = asks[ask - 1];
    if (state === undefined) throw new Error(`a cassette without ask ${ask} passed its check`);
    return state;
  };
  for (const [index, entry] of entries.entries()) read(entry, lines[index] ?? 1);
  return { steps, asks, commands, clients, facts };

  function read(entry: Entry, line: number): void {
    switch (entry.type) {
      case "ask": {
        const state: AskState = { entry, line, isTaken: false };
        asks.push(state);
        steps.push({ type: "ask", at: entry.at, state, line });
        break;
      }
      case "say": {
        const state = askOf(entry.ask);
        for (const [at, what] of entry.said) steps.push({ type: "said", at, state, what });
        break;
      }
      case "end":
        steps.push({ type: "end", at: entry.at, state: askOf(entry.ask), entry });
        break;
      case "note":
        steps.push({ type: "note", at: entry.at, entry });
        break;
      case "command": {
        const command = entry.command as unknown as Command; // compared with a real one before it is carried out
        const isPlayed = PLAYED_KINDS.includes(command.kind);
        const state: CommandState = { command, line, isPlayed };
        steps.push({ type: "command", at: entry.at, client: entry.client, state });
        if (!isPlayed) commands.set(entry.client, [...(commands.get(entry.client) ?? []), state]);
        break;
      }
      case "shutdown":
        steps.push({ type: "shutdown", at: entry.at, line });
        break;
      case "client":
        clients.push(entry);
        break;
      case "fact": {
        const key = JSON.stringify([entry.session, entry.fact, entry.about]);
        const fact = facts.get(key) ?? { values: [], reads: 0 };
        fact.values.push({ since: entry.since, value: entry.value });
        facts.set(key, fact);
        break;
      }
      case "eject":
        break;
    }
  }
}

function describe(of: EntryOf<"ask">["of"]): string {
  switch (of) {
    case "model":
      return "model request";
    case "model-name":
      return "the choice of the model";
    case "process":
      return "command";
    case "web":
      return "web request";
    case "server":
      return "call of a server";
    case "memory":
      return "reading or writing memories";
    case "kept-rule":
      return "the rule that was kept";
    case "sandbox":
      return "what holds commands";
  }
}

/** Of a request that is nowhere on the cassette: enough to find it. */
function summary(of: EntryOf<"ask">["of"], request: unknown): unknown {
  return of === "model" ? (request as { model: string }).model : request;
}
