/** The interface once its widgets are loaded: messages become states, states become frames, effects are performed. */
import { createBackgroundWatch } from "./background.ts";
import type { RowStyle } from "./block-rows.ts";
import { createCompletion } from "./completion.ts";
import { applyEditorKeys, editorKeyRows } from "./editor-keys.ts";
import { createGrowingAnswers } from "./growing-answers.ts";
import type { ImageProtocol } from "./images.ts";
import { createInputEditor } from "./input-editor.ts";
import type { InterfaceEnd, InterfaceParts, RunningInterface } from "./interface.ts";
import { createKeymap } from "./key-table.ts";
import { layerKeyRows } from "./layer.ts";
import { layers } from "./layers.ts";
import { isMouse, mouseEvent } from "./mouse.ts";
import { cutToSize, layoutColumns } from "./narrow.ts";
import { createOutsideEdit } from "./outside-edit.ts";
import type { Painter } from "./painter.ts";
import { createPerformer } from "./perform.ts";
import { settle } from "./settle.ts";
import { answerPurpose, type Message, type State, type UpdateContext, update } from "./state.ts";
import { themes } from "./theme.ts";
import { withFinished } from "./transcript.ts";
import { fullScreen, liveRegion } from "./view.ts";
import { widgets } from "./widgets.ts";

export interface RunningOptions {
  readonly parts: InterfaceParts;
  readonly painter: Painter;
  readonly signal: AbortSignal;
  readonly end: (how: InterfaceEnd) => void;
  readonly state: State;
}

/** Of the screen, for one image. */
const IMAGE_SHARE = 0.4;
/** The library takes these for arrows, which today's terminals send in another way; people who hold Alt mean the letter. */
const ALT_LETTER = { "\u001bp": "alt+p", "\u001bn": "alt+n" } as Readonly<Record<string, string>>;
const PASTE_END = "\u001b[201~";

export function createRunning({ parts, painter, signal, end, ...from }: RunningOptions): RunningInterface {
  const { screen, clock } = parts;
  let { state } = from;
  const keymap = createKeymap([...layerKeyRows(layers), ...editorKeyRows(widgets)], parts.keys);
  applyEditorKeys(widgets, keymap);
  const editor = createInputEditor({
    widgets,
    theme: () => themes[state.theme],
    completion: createCompletion({
      commands: () => state.input.commands,
      complete: async (text) => (await parts.session.submit({ kind: "CompleteInput", text })).result,
    }),
    history: parts.history(),
    vim: parts.vim ?? false,
    terminalRows: () => screen.size().rows,
    onSubmit: (text) => dispatch({ type: "submit", text, isSteering: false }),
    onOffer: () => painter.now(),
  });
  const outside = createOutsideEdit({ parts, painter, editor, purpose: () => answerPurpose(state.questions) });
  const { edit: editOutside } = outside;
  const perform = createPerformer({ parts, editor, painter, signal, end, dispatch, editOutside });
  const context = (): UpdateContext => ({ nowMs: clock.monotonicMs(), widgets, keymap, layers });

  function dispatch(message: Message): void {
    const next = update(state, message, context());
    state = next.state;
    for (const effect of next.effects) perform(effect);
    if (message.type === "event") painter.soon();
    else painter.now();
  }

  const background = createBackgroundWatch({
    ...{ screen, widgets, isOn: parts.followsBackground },
    onTheme: (name) => dispatch({ type: "background", theme: name }),
  });
  const growing = createGrowingAnswers();
  const keys = new widgets.StdinBuffer();
  keys.on("data", (sequence) => {
    if (background.takes(sequence)) return;
    if (isMouse(sequence)) {
      const event = mouseEvent(sequence);
      if (event !== undefined) dispatch({ type: "mouse", event });
      return;
    }
    dispatch({
      type: "key",
      key: ALT_LETTER[sequence] ?? widgets.parseKey(sequence) ?? sequence,
      sequence,
      typed: editor.typed(),
    });
  });
  keys.on("paste", (text) => dispatch({ type: "paste", text: text.replaceAll(PASTE_END, "") }));

  if (parts.draft.text !== "") editor.write(parts.draft.text);
  for (const text of keymap.problems) dispatch({ type: "print", tone: "warn", text });

  return {
    bytes: (chunk) => keys.process(chunk),
    dispatch,
    frame() {
      const columns = layoutColumns(state.size);
      const style = { columns, theme: themes[state.theme], widgets, nowMs: state.nowMs, growing };
      const full = fullScreen(state, style, context());
      // What becomes final meanwhile is printed when the main screen is back.
      if (full !== undefined) {
        state = { ...state, transcript: withFinished(state.transcript) };
        return cutToSize({ full }, state.size, widgets);
      }
      const { rows: settled, transcript } = settle(state.transcript, withImages(style, parts.images, state.size.rows));
      state = { ...state, transcript };
      const region = liveRegion(state, editor.rows(columns), parts.facts, style, context());
      return cutToSize({ settled, region }, state.size, widgets);
    },
    widthOf: widgets.visibleWidth,
    state: () => state,
    typed: () => editor.draft() || state.input.stashed,
    ended: outside.ended,
    taken: background.begin,
    close() {
      keys.destroy();
      state = { ...state, layers: [] };
    },
  };
}

/** An image leaves room for the input below it. */
function withImages(style: RowStyle, protocol: ImageProtocol | undefined, rows: number): RowStyle {
  return protocol === undefined ? style : { ...style, images: { protocol, maxRows: Math.floor(rows * IMAGE_SHARE) } };
}
