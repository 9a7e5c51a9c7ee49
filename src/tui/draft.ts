/** An input that is typed and not sent outlives the interface: it is kept while people type, and when the interface ends. */

export interface DraftKeeper {
  /** Called now and then with what is typed. */
  tick(text: string): void;
  keep(text: string): Promise<void>;
}

/** Ticks between two writes, about two seconds: what a crash may lose. */
const TICKS = 8;

/** `onError`: a tick could not keep it; what is typed later is tried again. */
export function createDraftKeeper(
  draft: { readonly text: string; keep(text: string): Promise<void> },
  onError: (error: unknown) => void,
): DraftKeeper {
  let kept = draft.text;
  let ticks = 0;
  async function keep(text: string): Promise<void> {
    if (text === kept) return;
    kept = text;
    await draft.keep(text);
  }
  return {
    tick(text) {
      ticks += 1;
      if (ticks % TICKS === 0) keep(text).catch(onError);
    },
    keep,
  };
}
