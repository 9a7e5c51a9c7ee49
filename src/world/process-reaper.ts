/**
 * What ends the last process that a killed program can leave in a sandbox: a monitor that is ended after it has made the first process
 * of its namespace, and before it has let that one go on, leaves it waiting for ever. Nobody inside can see that, so somebody outside
 * has to: a small shell that waits for the end of this program, then ends whoever has this program's mark in the environment.
 */

import { type Clock, EffectError, messageOf } from "#base";
import type { OwnProcess } from "./processes.ts";

const SHELL = "/bin/sh";
/** Looks that find nobody before it is over: who is about to become a monitor has no mark yet. */
const QUIET_LOOKS = 3;
const MAX_LOOKS = 50;
/** A shell begins within milliseconds; one that takes this long is none. */
const READY_PATIENCE_MS = 10_000;

/** `$1` is what the environment of a process has to have in it. Its input ends with this program, however that ends. */
const SCRIPT = `
command -v grep >/dev/null || { echo "grep was not found" >&2; exit 1; }
echo ready
while read -r line; do :; done
quiet=0
looks=0
while [ $quiet -lt ${QUIET_LOOKS} ] && [ $looks -lt ${MAX_LOOKS} ]; do
  looks=$((looks + 1))
  quiet=$((quiet + 1))
  for file in $(grep -lsaF -- "$1" /proc/[0-9]*/environ); do
    quiet=0
    pid=\${file#/proc/}
    kill -9 "\${pid%/environ}"
  done 2>/dev/null
  sleep 0.1 || sleep 1
done`;

export interface Reaper {
  /** Resolves when it waits; an `EffectError` when it does not. */
  ready(): Promise<void>;
  /** Everything that it should do was done. */
  dismiss(): void;
}

export type StartShell = (
  options: { readonly program: string; readonly args: readonly string[] },
  onEnd: () => void,
) => Pick<OwnProcess, "pid" | "stdout" | "errors" | "awaitAnswer" | "kill">;

/** `text` is in the environment of whoever is to end, and of nobody else. */
export function startReaper(text: string, start: StartShell, onEnd: () => void, clock: Pick<Clock, "sleep">): Reaper {
  const begun = Promise.withResolvers<void>();
  begun.promise.catch(() => undefined);
  const shell = start({ program: SHELL, args: ["-c", SCRIPT, "sh", text] }, () => {
    begun.reject(new Error(shell.errors().trim() || `${SHELL} ended`));
    onEnd();
  });
  shell.stdout.once("data", () => begun.resolve());
  const answeredInTime = async (): Promise<void> => {
    const over = new AbortController();
    const late = clock.sleep(READY_PATIENCE_MS, over.signal).then(() => {
      if (over.signal.aborted) return;
      begun.reject(new Error(`${SHELL} did not answer`));
      shell.kill();
    });
    try {
      await begun.promise;
    } finally {
      over.abort();
      await late;
    }
  };
  return {
    async ready() {
      const answered = shell.awaitAnswer();
      try {
        await answeredInTime();
      } catch (error) {
        const detail = `if Harness were killed, its commands would keep running: ${messageOf(error)}`;
        throw new EffectError("SpawnFailed", `the sandbox cannot be used; ${detail}`, { cause: error });
      } finally {
        answered();
      }
    },
    dismiss: () => shell.kill(),
  };
}
