/**
 * A layer is something that takes the keys until it is closed: a modal one stands in place of the editor, a screen is shown on the
 * whole alternate screen. Each is one file in `layers/`, with a line in `layers.ts`. Pure: a layer changes its own state and asks for
 * effects; it reads the interface's state and never changes it.
 */
import type { RowStyle } from "./block-rows.ts";
import type { Effect } from "./effects.ts";
import type { Keymap, KeyRow } from "./key-table.ts";
import type { Loaded } from "./loads.ts";
import type { State } from "./state.ts";

export type LayerMessage =
  | {
      readonly type: "key";
      readonly key: string;
      /** What the key writes; empty for one that writes nothing. */
      readonly text: string;
      /** Of this layer, of lists or of all layers, in this order. */
      readonly action: string | undefined;
      /** Of the mouse: the row of the screen, counted from 0. */
      readonly row?: number;
    }
  | { readonly type: "paste"; readonly text: string }
  | Loaded
  /** The state of the interface has changed: an event, another size, the time. */
  | { readonly type: "changed" };

export interface LayerContext {
  readonly state: Omit<State, "layers">;
  readonly style: RowStyle;
  readonly keymap: Keymap;
  /** Rows that the layer may fill: of a modal its share, of a screen all. */
  readonly rows: number;
}

export type LayerStep<LayerState> =
  | { readonly state: LayerState; readonly effects?: readonly Effect[] }
  | { readonly isClosed: true; readonly effects?: readonly Effect[] };

export interface LayerView {
  /** No row is wider than `style.columns`; at most `rows` of them are shown. */
  readonly rows: readonly string[];
  readonly cursor?: { readonly row: number; readonly column: number };
}

export interface LayerFacts {
  readonly name: string;
  /** For people, in `?`. */
  readonly title: string;
  readonly kind: "modal" | "screen";
  /** The action `open-NAME`: its keys while an input is typed. Absent: opened by something else. */
  readonly opener?: { readonly keys: readonly string[]; readonly help: string };
  /** Slash commands without arguments that open it, instead of being sent: `model`, `sessions:list`. */
  readonly words?: readonly string[];
  /** A question is answered on it, so nothing says that one waits. */
  readonly answersQuestion?: boolean;
  /** The layer whose keys count in this one as well. */
  readonly sharesKeysOf?: string;
  /** Its own keys; their place is the layer. */
  readonly keys: readonly Omit<KeyRow, "place">[];
}

export interface LayerDefinition<LayerState> extends LayerFacts {
  /** `argument`: what it was opened with, for example an id; empty by default. */
  open(argument: string, context: LayerContext): LayerStep<LayerState>;
  update(state: LayerState, message: LayerMessage, context: LayerContext): LayerStep<LayerState>;
  view(state: LayerState, context: LayerContext): LayerView;
}

/** A layer on the stack, with its state inside. Immutable. */
export interface OpenLayer {
  readonly facts: LayerFacts;
  update(message: LayerMessage, context: LayerContext): OpenedLayer;
  view(context: LayerContext): LayerView;
}

export interface OpenedLayer {
  /** Absent: it is closed. */
  readonly layer: OpenLayer | undefined;
  readonly effects: readonly Effect[];
}

export interface Layer extends LayerFacts {
  start(argument: string, context: LayerContext): OpenedLayer;
}

export function defineLayer<LayerState>(definition: LayerDefinition<LayerState>): Layer {
  const opened = (step: LayerStep<LayerState>): OpenedLayer => {
    const effects = step.effects ?? [];
    if ("isClosed" in step) return { layer: undefined, effects };
    const { state } = step;
    const layer: OpenLayer = {
      facts: definition,
      update: (message, context) => opened(definition.update(state, message, context)),
      view: (context) => definition.view(state, context),
    };
    return { layer, effects };
  };
  return { ...definition, start: (argument, context) => opened(definition.open(argument, context)) };
}

/** The rows of the key table that layers add. */
export function layerKeyRows(layers: readonly LayerFacts[]): readonly KeyRow[] {
  return layers.flatMap(({ name, opener, keys }) => [
    ...(opener === undefined ? [] : [{ action: `open-${name}`, place: "input", ...opener }]),
    ...keys.map((one) => ({ ...one, place: name })),
  ]);
}

/** The layer that a slash command opens. */
export function layerOfWord(layers: readonly LayerFacts[], word: string): LayerFacts | undefined {
  return layers.find(({ words = [] }) => words.includes(word));
}
