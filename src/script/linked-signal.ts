/** A signal that aborts with another one, and when its owner says so. By hand: `AbortSignal.any` costs more than a short script. */

export function linkedSignal(outer: AbortSignal): { readonly signal: AbortSignal; end(): void } {
  const controller = new AbortController();
  const abort = (): void => controller.abort(outer.reason);
  if (outer.aborted) abort();
  else outer.addEventListener("abort", abort, { once: true });
  return {
    signal: controller.signal,
    end() {
      outer.removeEventListener("abort", abort);
      controller.abort();
    },
  };
}
