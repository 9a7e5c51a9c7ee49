/** Text of people, models and tools inside a Markdown document, so that none of it can pass for the document's own parts. */
import { EXPIRED_CONTENT } from "#protocol";

const MAX_LINES = 40;
/** Of a shortened text, what is kept from its end. */
const TAIL_LINES = 10;
const MAX_LINE_CHARS = 400;
/** Headings of the document are above this level. */
const HEADING_SHIFT = 3;
const EXPIRED_NOTE = "_(expired and removed)_";

/** A code block that ends where it should, whatever is in it. Empty text gives no block. */
export function fence(text: string, language = ""): string {
  const body = clean(text).replace(/\n+$/, "");
  if (body === "") return "";
  const longest = Math.max(2, ...[...body.matchAll(/`+/g)].map(([run]) => run.length));
  const ticks = "`".repeat(longest + 1);
  return `${ticks}${language}\n${body}\n${ticks}`;
}

/** The beginning and the end of a long text, with what was left out counted. */
export function shorten(text: string): string {
  const lines = text.replace(/\n+$/, "").split("\n");
  const shown = lines.map((line) =>
    line.length <= MAX_LINE_CHARS
      ? line
      : `${line.slice(0, MAX_LINE_CHARS)}… (${line.length - MAX_LINE_CHARS} more characters)`,
  );
  if (shown.length <= MAX_LINES) return shown.join("\n");
  const left = shown.length - MAX_LINES;
  return [...shown.slice(0, MAX_LINES - TAIL_LINES), `… ${left} lines left out …`, ...shown.slice(-TAIL_LINES)].join(
    "\n",
  );
}

/** What a model wrote, which is Markdown itself: headings go below ours, HTML is shown, an open code block is closed. */
export function prose(text: string): string {
  let open = "";
  const lines = clean(text)
    .trim()
    .split("\n")
    .map((line) => {
      const mark = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line);
      if (mark !== null) {
        const [, run = "", info = ""] = mark;
        if (open === "") open = run;
        else if (run[0] === open[0] && run.length >= open.length && info.trim() === "") open = "";
        return line;
      }
      return open === "" ? proseLine(line) : line;
    });
  if (open !== "") lines.push(open);
  return lines.join("\n").replaceAll(new RegExp(`(?:${EXPIRED_CONTENT}\\s*)+`, "g"), EXPIRED_NOTE);
}

function proseLine(line: string): string {
  const shifted = line
    .replace(
      /^( {0,3})(#{1,6})(?=\s|$)/,
      (_, indent: string, marks: string) => indent + "#".repeat(Math.min(6, marks.length + HEADING_SHIFT)),
    )
    // A line of = or - below a text would make a heading of it.
    .replace(/^( {0,3})(=+|-+)\s*$/, "$1\\$2");
  return shifted
    .split(/(`+[^`]+`+)/)
    .map((part, index) => (index % 2 === 1 ? part : part.replace(/<(?=[a-z/!?])/gi, "&lt;")))
    .join("");
}

/** What a person wrote, as a quotation. */
export function quote(text: string): string {
  return prose(text)
    .split("\n")
    .map((line) => (line === "" ? ">" : `> ${line}`))
    .join("\n");
}

/** One line within a sentence of ours, nothing in it counts as Markdown. */
export function inline(text: string): string {
  return clean(text)
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, MAX_LINE_CHARS)
    .replace(/[\\`*_[\]<>#|~&]/g, "\\$&");
}

/** Without the characters that drive a terminal or turn the direction of writing. */
function clean(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: removing exactly these is the point
  const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;
  return text.replace(/\r\n?/g, "\n").replace(control, "");
}
