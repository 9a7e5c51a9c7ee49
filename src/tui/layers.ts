/** All layers. A new one is a file in `layers/` and a line here. */
import type { Layer } from "./layer.ts";
import { helpLayer } from "./layers/help.ts";
import { historyLayer } from "./layers/history.ts";
import { paletteLayer } from "./layers/palette.ts";

export const layers: readonly Layer[] = [helpLayer, historyLayer, paletteLayer];
