/** The end of patience: what does not stop when its signal aborts is left behind, so that a cancel takes at most a second. */

/** What ignores its signal is left behind after this long; its ports are closed by then. */
export const CANCEL_GRACE_MS = 900;

/** The result, or undefined when the signal aborted and it did not come within the grace. */
export async function abandonOnAbort<Output>(
  running: Promise<Output>,
  signal: AbortSignal,
  graceMs = CANCEL_GRACE_MS,
): Promise<Output | undefined> {
  let timer: NodeJS.Timeout | undefined;
  let onAbort: (() => void) | undefined;
  const abandoned = new Promise<undefined>((resolve) => {
    onAbort = () => {
      timer = setTimeout(() => resolve(undefined), graceMs);
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
  });
  running.catch(() => undefined); // raced below; a late rejection of what was left behind has nobody to tell
  try {
    return await Promise.race([running, abandoned]);
  } finally {
    clearTimeout(timer);
    if (onAbort !== undefined) signal.removeEventListener("abort", onAbort);
  }
}
