/** Writes down what comes from outside while a session runs. Nothing is on disk before the end, and then without its secrets. */
import { type Clock, defined, type Random } from "#base";
import { ReasonError } from "#protocol";
import { printCassette } from "./cassette-text.ts";
import type { AskKind, CassetteHead, Entry } from "./entries.ts";
import { type CassetteRedactor, SECRET_STAND_IN, withoutSecrets } from "./secrets.ts";
import { createSeededRandom } from "./seeded-random.ts";
import { type Tape, toFailed } from "./tape.ts";
import { createTurnstile } from "./turnstile.ts";

/** Of all that was said, as JSON. A session that goes beyond it is not kept. */
export const MAX_CASSETTE_CHARS = 64 * 1024 * 1024;

export interface RecorderOptions {
  readonly head: Omit<CassetteHead, "cassette" | "started" | "seed">;
  /** The real ones. */
  readonly clock: Clock;
  readonly random: Random;
  readonly redactor: CassetteRedactor;
  /** Writes the whole file. */
  readonly write: (text: string) => Promise<void>;
}

interface Arrival {
  readonly stampMs: number;
  readonly let: (at: number) => void;
}

export function createRecorder({ clock, random, redactor, write, ...options }: RecorderOptions): Tape {
  const startMs = clock.now();
  const startMonotonicMs = clock.monotonicMs();
  const head: CassetteHead = {
    cassette: 1,
    started: new Date(startMs).toISOString(),
    seed: Buffer.from(random.bytes(16)).toString("hex"),
    ...options.head,
  };
  const entries: Entry[] = [];
  const arrivals: Arrival[] = [];
  const facts = new Map<string, { reads: number; value: string | undefined }>();
  const notes = new Map<string, (note: unknown) => Promise<void>>();
  let chars = 0;
  let asks = 0;
  let clients = 0;
  let waking: AbortController | undefined;

  const elapsedMs = (): number => Math.floor(clock.monotonicMs() - startMonotonicMs);
  const turnstile = createTurnstile({
    startMs,
    next(nowMs) {
      const [arrival] = arrivals;
      if (arrival === undefined) return { at: Math.max(nowMs, elapsedMs()) };
      const at = Math.max(nowMs, arrival.stampMs);
      return {
        at,
        deliver() {
          arrivals.shift();
          arrival.let(at);
        },
      };
    },
    onIdle(wakeAtMs) {
      waking?.abort();
      if (wakeAtMs === undefined) return;
      waking = new AbortController();
      const { signal } = waking;
      void clock.sleep(Math.max(1, wakeAtMs - elapsedMs()), signal).then(() => {
        if (!signal.aborted) turnstile.wake();
      });
    },
  });

  /** As it is now: what is said later about the same object is no part of it. */
  function kept<Value>(value: Value): Value | undefined {
    const text = JSON.stringify(value);
    chars += text.length;
    return chars > MAX_CASSETTE_CHARS ? undefined : (JSON.parse(text) as Value); // JSON goes in, the same comes out
  }

  function put(entry: Entry): void {
    const copy = kept(entry);
    if (copy !== undefined) entries.push(copy);
  }

  function arrive<Result>(handle: (at: number) => Result | Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      arrivals.push({
        stampMs: elapsedMs(),
        let(at) {
          try {
            Promise.resolve(handle(at)).then(resolve, reject);
          } catch (error) {
            reject(error);
          }
        },
      });
      turnstile.wake();
    });
  }

  function said(ask: number, at: number, what: unknown): void {
    const last = entries.at(-1);
    if (last?.type === "say" && last.ask === ask) {
      const copy = kept(what);
      if (copy !== undefined) last.said.push([at, copy]);
    } else {
      put({ type: "say", ask, said: [[at, what]] });
    }
  }

  function asked(of: AskKind, session: string | undefined, request: unknown): number {
    asks += 1;
    put({ type: "ask", at: turnstile.nowMs, ask: asks, of, ...defined({ session }), request });
    return asks;
  }

  const tape: Tape = {
    mode: "record",
    head,
    commands: [],
    clock: turnstile.clock,
    random: createSeededRandom(head.seed),
    schedule: turnstile.schedule,
    inside: turnstile.inside,
    exchange({ of, session, request, hear, live }) {
      const ask = asked(of, session, request);
      const running = live((what) =>
        arrive((at) => {
          said(ask, at, what);
          return hear(what);
        }),
      );
      return running.then(
        (result) =>
          arrive((at) => {
            put({ type: "end", at, ask, result });
            return result;
          }),
        (error: unknown) =>
          arrive((at) => {
            put({ type: "end", at, ask, failed: toFailed(error) });
            throw error;
          }),
      );
    },
    note: (session, note) =>
      arrive(async (at) => {
        put({ type: "note", at, session, note });
        await notes.get(session)?.(note);
      }),
    onNote(session, handle) {
      notes.set(session, handle);
    },
    fact({ session, name, isOptional }, about, read) {
      const value = read();
      const key = JSON.stringify([session, name, about]);
      const known = facts.get(key);
      const reads = (known?.reads ?? 0) + 1;
      facts.set(key, { reads, value });
      const isAbsent = isOptional === true && value === undefined && known?.value === undefined;
      if (!isAbsent && (known === undefined || known.value !== value)) {
        const where = session === undefined ? {} : { session };
        put({ type: "fact", ...where, fact: name, about, since: reads, value: value ?? null });
      }
      return value;
    },
    secret(fact, about, read) {
      const value = read();
      tape.fact(fact, about, () => (value === undefined ? undefined : SECRET_STAND_IN));
      return value;
    },
    connect({ identityClass, interactive }) {
      clients += 1;
      put({ type: "client", client: clients, identity: identityClass, interactive });
      return { client: clients, identityClass, interactive, carryOut: () => undefined };
    },
    command: (client, command, run) =>
      arrive((at) => {
        put({ type: "command", at, client, command: { ...command } });
        return run(command);
      }),
    shutdown: (run) =>
      arrive((at) => {
        put({ type: "shutdown", at });
        return run();
      }),
    async finish() {
      turnstile.open();
      waking?.abort();
      if (chars > MAX_CASSETTE_CHARS) {
        throw new ReasonError("CassetteNotWritten", `the recording has more than ${MAX_CASSETTE_CHARS} characters`);
      }
      const clean = withoutSecrets(head, entries, redactor);
      try {
        await write(printCassette(clean.head, clean.entries));
      } catch (error) {
        throw new ReasonError("CassetteNotWritten", error instanceof Error ? error.message : String(error));
      }
    },
  };
  return tape;
}
