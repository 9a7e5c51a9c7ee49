/** Carries out what layers ask the session for. The newest search ends the one before it. */
import type { InterfaceParts } from "./interface.ts";
import { type LoadEffect, type Loaded, runLoad } from "./loads.ts";

export interface LoaderOptions {
  readonly parts: InterfaceParts;
  readonly signal: AbortSignal;
  dispatch(message: Loaded): void;
}

export function createLoader({ parts, signal, dispatch }: LoaderOptions): (effect: LoadEffect) => Promise<void> {
  let searching = new AbortController();
  return async (effect) => {
    const { name, argument = "" } = effect;
    if (name === "search") {
      searching.abort();
      searching = new AbortController();
    }
    const stop = name === "search" ? AbortSignal.any([signal, searching.signal]) : signal;
    const loaded = await runLoad(parts, effect, stop).catch(async (error: unknown) => {
      return { type: "not-loaded", name, argument, text: await parts.describe(error) } as const;
    });
    if (!stop.aborted) dispatch(loaded);
  };
}
