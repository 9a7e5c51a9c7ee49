/** `sleep(seconds)`: waits, and fails at once when the call is cancelled or out of time. */
import { numberOf } from "../arguments.ts";
import { signalOf } from "../script-call.ts";
import { row } from "./definition.ts";

const MAX_SECONDS = 3_600;

export const sleep = row("sleep(seconds)", "None", "Waits. Fails if the call is cancelled or exceeds its time limit.", {
  effect: true,
}).runs(async (args, call, host) => {
  const seconds = numberOf(args, "seconds");
  if (!(seconds >= 0 && seconds <= MAX_SECONDS)) throw new Error(`seconds must be from 0 to ${MAX_SECONDS}`);
  const signal = signalOf(host);
  await call.services.clock.sleep(seconds * 1000, signal);
  if (signal.aborted) throw new Error("the sleep was cancelled");
  return null;
});
