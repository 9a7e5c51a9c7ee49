/** The memories of a session behind a tape: a replay reads those of the recording and writes none. */
import type { MemoryShelf, MemoryStore } from "#base";
import type { Tape } from "./tape.ts";

export function tapedMemory(tape: Tape, session: string, store: MemoryStore): MemoryStore {
  const ask = <Result>(request: unknown, live: () => Promise<Result>): Promise<Result> =>
    tape.exchange<never, Result>({ of: "memory", session, request, hear: () => undefined, live });
  const isThere = { session, name: "memory", isOptional: true } as const;
  return {
    isThere: () => tape.fact(isThere, "is there", () => (store.isThere() ? "yes" : undefined)) === "yes",
    load: () => ask<MemoryShelf>({ load: true }, () => store.load()),
    write: (draft, origin) => ask({ write: draft, origin }, () => store.write(draft, origin)),
    forget: (scope, name) => ask({ forget: { scope, name } }, () => store.forget(scope, name)),
  };
}
