/** What is typed, in the person's own editor: the terminal is that program's until it has ended, and nothing is drawn meanwhile. */
import type { InputEditor } from "./input-editor.ts";
import type { InterfaceParts } from "./interface.ts";
import type { Painter } from "./painter.ts";

export interface OutsideEdit {
  /** Rejects with what went wrong; the input is as it was then. Nothing while another one is open. */
  edit(): Promise<void>;
  /** Resolves when the terminal is given back. */
  ended(): Promise<void>;
}

export interface OutsideEditOptions {
  readonly parts: Pick<InterfaceParts, "screen" | "editOutside">;
  readonly painter: Pick<Painter, "erase" | "hold">;
  readonly editor: Pick<InputEditor, "typed" | "write" | "putBefore">;
  /** What is typed is for this: an input, or the answer to a question, which may be gone when the text comes back. */
  purpose(): string;
}

export function createOutsideEdit({ parts, painter, editor, purpose }: OutsideEditOptions): OutsideEdit {
  let open: Promise<void> | undefined;

  async function edit(): Promise<void> {
    const { text } = editor.typed();
    const before = purpose();
    painter.erase();
    const release = painter.hold();
    const resume = parts.screen.pause();
    try {
      const edited = await parts.editOutside(text);
      if (edited === undefined) return;
      // What was written for a question that is gone is not lost: it stands before the next input.
      if (purpose() === before) editor.write(edited);
      else editor.putBefore(edited);
    } finally {
      release();
      resume();
    }
  }

  return {
    async edit() {
      if (open !== undefined) return;
      const closed = Promise.withResolvers<void>();
      open = closed.promise;
      try {
        await edit();
      } finally {
        open = undefined;
        closed.resolve();
      }
    },
    ended: async () => open,
  };
}
