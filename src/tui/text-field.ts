/** One line of text that a layer lets people type, such as a filter. Pure. */

export interface TextField {
  readonly text: string;
}

const MAX_CHARS = 1_000;

/** The field after the key; undefined for a key that is not for it. */
export function withFieldKey(field: TextField, key: string, typed: string): TextField | undefined {
  switch (key) {
    case "backspace":
    case "ctrl+h":
      return { text: Array.from(field.text).slice(0, -1).join("") };
    case "ctrl+w":
    case "alt+backspace":
      return { text: field.text.replace(/\S*\s*$/, "") };
    case "ctrl+u":
      return { text: "" };
    default:
      return typed === "" ? undefined : withFieldText(field, typed);
  }
}

/** A paste: its line breaks become spaces. */
export function withFieldText(field: TextField, typed: string): TextField {
  return { text: (field.text + typed.replace(/[\p{Cc}\s]+/gu, " ")).slice(0, MAX_CHARS) };
}
