/** The layers that are open: who gets a message, what is opened and closed. Pure. */
import type { Effect } from "./effects.ts";
import { type LayerContext, type LayerMessage, layerOfWord, type OpenLayer } from "./layer.ts";
import { layoutColumns } from "./narrow.ts";
import type { State, Update, UpdateContext } from "./state.ts";
import { themes } from "./theme.ts";

/** Layers above one another. */
const MAX_LAYERS = 8;
/** The share of the screen that a modal layer may take. */
const MODAL_SHARE = 0.6;

/** What a layer sees. */
export function layerContext(
  state: State,
  kind: "modal" | "screen",
  { widgets, keymap, nowMs }: Pick<UpdateContext, "widgets" | "keymap" | "nowMs">,
): LayerContext {
  const columns = layoutColumns(state.size);
  const { rows } = state.size;
  const waiting = state.questions.waiting.length > 0 ? 1 : 0;
  return {
    state,
    keymap,
    style: { columns, theme: themes[state.theme], widgets, nowMs },
    rows: Math.max(1, kind === "screen" ? rows - waiting : Math.floor(rows * MODAL_SHARE)),
  };
}

/** To the one that has the keys, with the action that the key has there. */
export function toTop(
  state: State,
  message: (action: string | undefined) => LayerMessage,
  context: UpdateContext,
): Update {
  const top = state.layers.at(-1);
  if (top === undefined) return { state, effects: [] };
  const made = message(undefined);
  const { name, kind, sharesKeysOf = name } = top.facts;
  const places = [name, sharesKeysOf, "list", "layer"];
  const action = made.type === "key" ? context.keymap.actionOf(made.key, ...places) : undefined;
  const { layer, effects } = top.update(message(action), layerContext(state, kind, context));
  return { state: { ...state, layers: replaced(state.layers, state.layers.length - 1, layer) }, effects };
}

/** To all of them. */
export function toLayers(state: State, message: LayerMessage, context: UpdateContext): Update {
  if (state.layers.length === 0) return { state, effects: [] };
  const steps = state.layers.map((open) => open.update(message, layerContext(state, open.facts.kind, context)));
  const layers = steps.flatMap(({ layer }) => (layer === undefined ? [] : [layer]));
  return { state: { ...state, layers }, effects: steps.flatMap(({ effects }) => effects) };
}

/** As if its own key for that had been pressed. */
export function closeTop(state: State, context: UpdateContext): Update {
  const { state: next, effects } = toTop(state, () => ({ type: "key", key: "", text: "", action: "close" }), context);
  const isStill = next.layers.length === state.layers.length;
  return { state: isStill ? { ...next, layers: next.layers.slice(0, -1) } : next, effects };
}

/** Carries out the effects that open layers; the others are left. */
export function openedLayers(given: Update, context: UpdateContext): Update {
  let { state } = given;
  let effects = given.effects.map((effect) => openingOf(effect, context));
  for (let left = MAX_LAYERS; left > 0; left--) {
    const opening = effects.find((effect) => effect.type === "open");
    if (opening === undefined) break;
    const layer = context.layers.find(({ name }) => name === opening.layer);
    effects = effects.filter((effect) => effect !== opening);
    if (layer === undefined || state.layers.length >= MAX_LAYERS) continue;
    const opened = layer.start(opening.argument ?? "", layerContext(state, layer.kind, context));
    if (opened.layer !== undefined) state = { ...state, layers: [...state.layers, opened.layer] };
    effects = [...effects, ...opened.effects.map((effect) => openingOf(effect, context))];
  }
  return { state, effects: effects.filter(({ type }) => type !== "open") };
}

/** Slash words that the interface carries out itself, whoever asks for them. */
const OWN_WORDS: Readonly<Record<string, Effect>> = {
  quit: { type: "leave" },
  exit: { type: "leave" },
  clear: { type: "clear-screen" },
};

/** One without arguments that has a layer opens it. */
function openingOf(effect: Effect, { layers }: UpdateContext): Effect {
  if (effect.type !== "slash") return effect;
  const word = effect.text.slice(1);
  const own = Object.hasOwn(OWN_WORDS, word) ? OWN_WORDS[word] : undefined;
  if (own !== undefined) return own;
  const layer = layerOfWord(layers, word);
  return layer === undefined ? effect : { type: "open", layer: layer.name };
}

function replaced(layers: readonly OpenLayer[], at: number, layer: OpenLayer | undefined): readonly OpenLayer[] {
  return layer === undefined ? layers.toSpliced(at, 1) : layers.with(at, layer);
}
