/**
 * How deep the calls are nested that scripts make of tools. A call goes through the whole chain and comes back as a fresh run, so
 * the count travels with the asynchronous context and not with any object of the call.
 */
import { AsyncLocalStorage } from "node:async_hooks";

const depths = new AsyncLocalStorage<number>();

/** 0 in a call that the model made. */
export function callDepth(): number {
  return depths.getStore() ?? 0;
}

/** Runs a call of a script one level deeper. */
export function nested<Result>(run: () => Promise<Result>): Promise<Result> {
  return depths.run(callDepth() + 1, run);
}
