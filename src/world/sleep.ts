/** Waiting by the timers that Node and browsers share. */

/** The longest delay a timer takes; a longer sleep is slept in pieces. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Resolves after so long, or as soon as the signal aborts. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  let restMs = ms;
  while (restMs > MAX_TIMER_MS && !signal?.aborted) {
    await pause(MAX_TIMER_MS, signal);
    restMs -= MAX_TIMER_MS;
  }
  await pause(restMs, signal);
}

function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const finish = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    signal?.addEventListener("abort", finish, { once: true });
  });
}
