/** What the interface does when its state asks for it: commands to the session, keys to the editor, the end. */
import { defined } from "#base";
import { ownCommandOf } from "#protocol";
import type { Effect } from "./effects.ts";
import type { InputEditor } from "./input-editor.ts";
import type { InterfaceEnd, InterfaceParts } from "./interface.ts";
import { createLoader } from "./loader.ts";
import type { Painter } from "./painter.ts";
import type { Message } from "./state.ts";

export interface PerformerOptions {
  readonly parts: InterfaceParts;
  readonly editor: InputEditor;
  readonly painter: Pick<Painter, "erase" | "now" | "clear">;
  readonly signal: AbortSignal;
  editOutside(): Promise<void>;
  end(how: InterfaceEnd): void;
  dispatch(message: Message): void;
}

/** Of a slash word with its arguments. */
const SHOWN_CHARS = 200;

export function createPerformer(options: PerformerOptions): (effect: Effect) => void {
  const { parts, editor, painter, signal, end, dispatch } = options;
  const { session, client, attachedImages } = parts;
  const load = createLoader(options);

  /** A refusal is shown in the conversation. */
  function attempt(work: () => Promise<unknown>): void {
    work().catch(async (error: unknown) => {
      const text = await parts.describe(error);
      if (!signal.aborted) dispatch({ type: "print", tone: "bad", text });
    });
  }

  async function slash(line: string): Promise<void> {
    let isNamed = false;
    const other = await parts.slash(line, (text) => {
      // What is said stands below the word that asked for it.
      if (!isNamed) dispatch({ type: "print", tone: "dim", text: `› ${line.slice(0, SHOWN_CHARS)}` });
      isNamed = true;
      dispatch({ type: "print", tone: "plain", text: text.trimEnd() });
    });
    if (other !== undefined) end({ kind: "other", session: other });
  }

  async function send(text: string, isQueued: boolean): Promise<void> {
    await parts.remember(text);
    await (isQueued ? session.queue(await attachedImages.contentOf(text)) : parts.send(text));
  }

  async function runCommand(text: string): Promise<void> {
    await parts.remember(text);
    await session.submit({ kind: "RunShellCommand", command: ownCommandOf(text) ?? "" });
  }

  async function steer(text: string): Promise<void> {
    await parts.remember(text);
    await session.steer(await attachedImages.contentOf(text));
  }

  async function takeBack({ queued, text }: Extract<Effect, { type: "take-back" }>): Promise<void> {
    await session.submit({ kind: "WithdrawInput", queued });
    editor.putBefore(text);
    painter.now();
  }

  async function submit({ command, session: named, done }: Extract<Effect, { type: "submit" }>): Promise<void> {
    await (named === undefined ? session : client.session(named)).submit(command);
    if (done !== undefined && !signal.aborted) dispatch({ type: "print", tone: "plain", text: done });
  }

  async function answer({ id, session: asking, decision, reason, args }: Extract<Effect, { type: "answer" }>) {
    const changed = defined({ reason, args: args && { ...args } });
    await client.session(asking).submit({ kind: "AnswerPermission", call_id: id, decision, ...changed });
  }

  return (effect) => {
    switch (effect.type) {
      case "send":
      case "queue":
        editor.remember(effect.text);
        return attempt(() => send(effect.text, effect.type === "queue"));
      case "steer":
        editor.remember(effect.text);
        return attempt(() => steer(effect.text));
      case "take-back":
        return attempt(() => takeBack(effect));
      case "slash":
        editor.remember(effect.text);
        return attempt(() => slash(effect.text));
      case "command":
        editor.remember(effect.text);
        return attempt(() => runCommand(effect.text));
      case "answer":
        return attempt(() => answer(effect));
      case "reply":
        return attempt(() => client.session(effect.session).answerQuestion(effect.id, effect.text));
      case "cancel":
        return attempt(() => session.cancel());
      case "paste":
      case "paste-image":
        return attempt(() => paste("text" in effect ? effect.text : "", options));
      case "type":
      case "insert":
      case "write":
      case "clear":
      case "set-aside":
      case "bring-back":
        return performEdit(editor, effect);
      case "hide-reminder":
        return attempt(() => parts.reminder.hide());
      case "clear-screen":
        return painter.clear();
      case "load":
        return void load(effect);
      case "submit":
        return attempt(() => submit(effect));
      case "save":
        return attempt(async () => {
          const path = await parts.save(effect.name, effect.text);
          if (!signal.aborted) dispatch({ type: "print", tone: "plain", text: `Saved: ${path}` });
        });
      case "theme":
        return dispatch({ type: "theme", name: effect.name });
      case "switch":
        return end({ kind: "other", session: effect.session });
      case "edit-outside":
        return attempt(options.editOutside);
      case "open":
      case "plan":
        throw new Error(`an effect was left that only an update carries out: ${effect.type}`);
      case "leave":
        return end({ kind: "left" });
      case "suspend":
        painter.erase();
        return parts.screen.suspend();
    }
  };
}

/** An empty paste is what a terminal sends that was to paste something that is not text. */
async function paste(text: string, { parts, editor, painter }: PerformerOptions): Promise<void> {
  const { fromPaste, fromClipboard } = parts.attachedImages;
  if (text !== "") return editor.paste(fromPaste(text) ?? text);
  editor.insert(await fromClipboard());
  painter.now();
}

type EditorEffect = Extract<
  Effect,
  { readonly type: "type" | "insert" | "write" | "set-aside" | "bring-back" | "clear" }
>;

function performEdit(editor: InputEditor, effect: EditorEffect): void {
  switch (effect.type) {
    case "type":
      editor.type(effect.sequence);
      break;
    case "insert":
      editor.insert(effect.text);
      break;
    case "write":
      editor.write(effect.text, effect.isOffering);
      break;
    case "clear":
      editor.write("");
      break;
    case "set-aside":
      editor.setAside();
      break;
    case "bring-back":
      editor.bringBack();
      break;
  }
}
