/**
 * The keys of one line after another, as an editor of single lines takes them. Keys behind Enter wait for the next line. A paste that
 * the terminal marks (bracketed paste) is one piece of text: its line breaks are shown as symbols, and a long one as a placeholder.
 */
import { StringDecoder } from "node:string_decoder";
import { counted } from "#base";

/** Asks the terminal to mark pastes, or not to. */
export const PASTE_ON = "\u001b[?2004h";
export const PASTE_OFF = "\u001b[?2004l";

const CTRL_V = "\u0016";
const PASTE_BEGIN = "\u001b[200~";
const PASTE_END = "\u001b[201~";
/** A longer text is not shown in the line. */
export const LINE_MAX_CHARS = 2000;
const PASTE_MAX_CHARS = 1024 * 1024;
const LINE_FEED_SYMBOL = "␊";
const TAB_SYMBOL = "␉";

/** What a conversation makes of keys that stand for more than their text. */
export interface PasteAid {
  /** What stands in the line for a pasted text; undefined: the text itself. */
  pasted(text: string): string | undefined;
  /** Ctrl-V, or a paste without text: something else is in the clipboard. */
  onClipboard(): void;
}

export interface LineKeys {
  /** Takes what was typed and returns the keys for the line, up to its Enter. */
  take(chunk: Uint8Array): string;
  /** The keys that wait for a line that begins now, up to its Enter. */
  begin(): string;
  /** The text that a finished line stands for. */
  textOf(line: string): string;
  /** Forgets what was typed ahead; false when there was nothing. */
  drop(): boolean;
}

export function createLineKeys(aid?: PasteAid): LineKeys {
  const decoder = new StringDecoder("utf8");
  let waiting = "";
  let hasEnter = false;
  let isTooLong = false;
  /** By what stands for them in the line. */
  const pastes = new Map<string, string>();

  function next(): string {
    let keys = "";
    while (!hasEnter) {
      const [at] = [waiting.search(/[\r\n]/), waiting.indexOf(PASTE_BEGIN)]
        .filter((found) => found >= 0)
        .sort((a, b) => a - b);
      if (at === undefined) {
        const end = waiting.length - heldBack(waiting);
        keys += typed(waiting.slice(0, end));
        waiting = waiting.slice(end);
        return keys;
      }
      keys += typed(waiting.slice(0, at));
      waiting = waiting.slice(at);
      if (!waiting.startsWith(PASTE_BEGIN)) {
        waiting = waiting.slice(1);
        hasEnter = true;
        return `${keys}\r`;
      }
      const end = waiting.indexOf(PASTE_END);
      if (end === -1) {
        isTooLong ||= waiting.length > PASTE_MAX_CHARS;
        if (isTooLong) waiting = PASTE_BEGIN + waiting.slice(PASTE_BEGIN.length).slice(1 - PASTE_END.length);
        return keys;
      }
      keys += pasted(waiting.slice(PASTE_BEGIN.length, end));
      waiting = waiting.slice(end + PASTE_END.length);
      isTooLong = false;
    }
    return keys;
  }

  function typed(keys: string): string {
    if (!keys.includes(CTRL_V)) return keys;
    aid?.onClipboard();
    return keys.replaceAll(CTRL_V, "");
  }

  function pasted(raw: string): string {
    if (isTooLong) return `[a paste of more than ${PASTE_MAX_CHARS} characters was dropped: put it into a file]`;
    // How some terminals paste an image.
    if (raw === "") aid?.onClipboard();
    const given = raw.replace(/\r\n?/g, "\n");
    const text = aid?.pasted(given) ?? given;
    const shown = asOneLine(text);
    if (shown.length <= LINE_MAX_CHARS) return shown;
    const mark = `[paste ${pastes.size + 1}: ${counted(text.split("\n").length, "line")}]`;
    pastes.set(mark, text);
    return mark;
  }

  return {
    take(chunk) {
      waiting += decoder.write(Buffer.from(chunk));
      return next();
    },
    begin() {
      hasEnter = false;
      return next();
    },
    textOf(line) {
      let text = line.replaceAll(LINE_FEED_SYMBOL, "\n").replaceAll(TAB_SYMBOL, "\t");
      for (const [mark, paste] of pastes) text = text.replace(mark, () => paste);
      pastes.clear();
      return text;
    },
    drop() {
      const hadKeys = waiting !== "";
      waiting = "";
      return hadKeys;
    },
  };
}

/** A text of several lines as one, without what an editor would take for a command. `textOf` undoes it. */
export function asOneLine(text: string): string {
  return text
    .replaceAll("\n", LINE_FEED_SYMBOL)
    .replaceAll("\t", TAB_SYMBOL)
    .replace(/\p{Cc}/gu, "");
}

/** How much of the end may be the beginning of a paste's mark, whose rest has not come yet. */
function heldBack(keys: string): number {
  for (let length = PASTE_BEGIN.length - 1; length > 0; length--) {
    if (keys.endsWith(PASTE_BEGIN.slice(0, length))) return length;
  }
  return 0;
}
