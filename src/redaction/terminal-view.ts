/**
 * A text as a terminal shows it: without the sequences that set colours, titles and links. A program that marks what it has found
 * puts them into the middle of a secret.
 */
import { type RewrittenView, rewrittenView } from "./rewritten-view.ts";

/** With one of these a sequence begins: as it is, as `cat -v` writes it, and as strings and `sed -n l` do. */
const BEGINNINGS = ["\u001b", "\u009b", "^[[", "\\0"];
/**
 * Parameters are numbers, titles are lines; what is longer is no sequence. One that the text ends in counts: the rest of it may
 * come. A title that nothing ends hides nothing, because only its first two characters are left out.
 */
const SEQUENCE = [
  String.raw`(?:\x1b\[|\x9b|\^\[\[|\\033\[)[0-?]{0,64}[ -/]{0,8}(?:[@-~]|$)`,
  String.raw`\x1b[\]PX^_][^\x07\x1b\x9c]{0,4096}(?:\x07|\x9c|\x1b\\|\x1b?$)`,
  String.raw`\x1b[ -/]{0,8}[0-~]`,
  String.raw`\\0(?:33?)?$`,
].join("|");
const SEQUENCES = new RegExp(SEQUENCE, "g");

/** Undefined for a text in which no sequence begins. */
export function terminalView(source: string): RewrittenView | undefined {
  if (!BEGINNINGS.some((beginning) => source.includes(beginning))) return undefined;
  const view = rewrittenView(source, SEQUENCES, () => "");
  return view.text.length === source.length ? undefined : view;
}
