/** All layers. A new one is a file in `layers/` and a line here. */
import type { Layer } from "./layer.ts";
import { callLayer } from "./layers/call.ts";
import { helpLayer } from "./layers/help.ts";
import { historyLayer } from "./layers/history.ts";
import { paletteLayer } from "./layers/palette.ts";
import { reviewLayer } from "./layers/review.ts";
import { transcriptLayer } from "./layers/transcript.ts";

export const layers: readonly Layer[] = [
  callLayer,
  helpLayer,
  historyLayer,
  paletteLayer,
  reviewLayer,
  transcriptLayer,
];
