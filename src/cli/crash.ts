/** A failure of the program itself: whoever has the terminal gives it back first, then the person reads what happened and what to do. */

export interface Crash {
  /** Aborts before anything is said about the failure. */
  readonly signal: AbortSignal;
  /** What the person reads below it; undefined: nothing. */
  advise(text: string | undefined): void;
}

export interface CrashDesk extends Crash {
  /** The terminal is as it was when this returns. */
  begin(): void;
  readonly advice: string | undefined;
}

export function createCrash(): CrashDesk {
  const crashed = new AbortController();
  let advice: string | undefined;
  return {
    signal: crashed.signal,
    advise(text) {
      advice = text;
    },
    begin: () => crashed.abort(),
    get advice() {
      return advice;
    },
  };
}
