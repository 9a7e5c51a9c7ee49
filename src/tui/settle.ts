/** Which rows of the conversation are final. Finished blocks are, in their order; so are the finished parts of an answer that streams. */
import { counted } from "#base";
import { finalRows } from "./answer-rows.ts";
import { entriesFrom, mapped } from "./block-log.ts";
import { blockRows, type RowStyle } from "./block-rows.ts";
import { sizeOf, type Transcript, withFinished, withoutImages } from "./transcript.ts";

export interface Settled {
  readonly rows: readonly string[];
  readonly transcript: Transcript;
}

/** The rows that are final and not printed yet, and the transcript in which they are. */
export function settle(before: Transcript, style: RowStyle): Settled {
  const moved = withFinished(before);
  const printed = entriesFrom(moved.finished, moved.printed);
  const rows = [...leftOutRows(moved, style), ...printed.flatMap((block) => blockRows(block, style))];
  const hasImages = printed.some((block) => withoutImages(block) !== block);
  const finished = hasImages ? mapped(moved.finished, moved.printed, withoutImages, { sizeOf }) : moved.finished;
  const transcript = { ...moved, finished, printed: moved.finished.to };
  const [first, ...rest] = transcript.blocks;
  if (first?.kind !== "answer") return { rows, transcript };
  const { rows: final, answer } = finalRows(first, style);
  return { rows: [...rows, ...final], transcript: { ...transcript, blocks: [answer, ...rest] } };
}

/** Very much has happened while something else had the screen, or the terminal took nothing. */
function leftOutRows({ finished, printed }: Transcript, { theme, columns, widgets }: RowStyle): string[] {
  const count = finished.from - printed;
  if (count <= 0) return [];
  return [theme.paint("dim", widgets.truncateToWidth(`… ${counted(count, "item")} left out here (Ctrl-O)`, columns))];
}
