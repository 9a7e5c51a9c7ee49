/**
 * The part of Go's text/template that `template.render` knows: fields, variables of `range`, literals, pipelines of a few functions,
 * `if`/`else if`/`else`, `range`, `with`, comments and trim markers. No definitions, no method calls, no assignments.
 */

export type TemplateNode =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "output"; readonly pipe: Pipe }
  | { readonly kind: "if" | "with"; readonly pipe: Pipe; readonly body: Nodes; readonly otherwise: Nodes }
  | {
      readonly kind: "range";
      readonly pipe: Pipe;
      /** Names of `$i, $v := `; the last one is the element. */
      readonly variables: readonly string[];
      readonly body: Nodes;
      readonly otherwise: Nodes;
    };

export type Nodes = readonly TemplateNode[];

/** Commands, each given the result of the one before as its last argument. */
export type Pipe = readonly Command[];
export type Command = readonly Operand[];
export type Operand =
  | { readonly kind: "literal"; readonly value: unknown }
  | { readonly kind: "path"; readonly root: "." | "$" | string; readonly fields: readonly string[] }
  | { readonly kind: "function"; readonly name: string }
  | { readonly kind: "pipe"; readonly pipe: Pipe };

const MAX_TEMPLATE_CHARS = 100_000;
const MAX_NESTING = 50;
const WORD =
  /\s*(?:("(?:[^"\\\n]|\\.)*")|(`[^`]*`)|(-?\d+(?:\.\d+)?)|(\$?[A-Za-z_]\w*|\$)?((?:\.[A-Za-z_]\w*)+)|(\$[A-Za-z_]\w*|\$)|([A-Za-z_]\w*)|(:=|[.|(),]))/y;

/** Throws for what is not in the subset, with the line. */
export function parseTemplate(text: string): Nodes {
  if (text.length > MAX_TEMPLATE_CHARS) throw new Error(`a template may have at most ${MAX_TEMPLATE_CHARS} characters`);
  const parser = new TemplateParser(pieces(text));
  const nodes = parser.nodes(0);
  parser.expectEnd();
  return nodes;
}

interface Piece {
  readonly kind: "text" | "action";
  readonly text: string;
  readonly line: number;
}

/** Text and actions in turn; `{{-` and `-}}` take the white space beside them away. */
function pieces(text: string): Piece[] {
  const found: Piece[] = [];
  let from = 0;
  let line = 1;
  let trimNext = false;
  const addText = (raw: string, trimEnd: boolean): void => {
    const start = trimNext ? raw.trimStart() : raw;
    found.push({ kind: "text", text: trimEnd ? start.trimEnd() : start, line });
  };
  for (;;) {
    const open = text.indexOf("{{", from);
    if (open < 0) break;
    const close = text.indexOf("}}", open + 2);
    if (close < 0) throw new Error(`template line ${lineAt(text, open)}: {{ without }}`);
    let inside = text.slice(open + 2, close);
    const trimBefore = /^-\s/.test(inside);
    addText(text.slice(from, open), trimBefore);
    if (trimBefore) inside = inside.slice(1);
    trimNext = /\s-$/.test(inside);
    if (trimNext) inside = inside.slice(0, -1);
    line = lineAt(text, open);
    found.push({ kind: "action", text: inside.trim(), line });
    from = close + 2;
  }
  addText(text.slice(from), false);
  return found;
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

class TemplateParser {
  private readonly all: readonly Piece[];
  private at = 0;

  constructor(all: readonly Piece[]) {
    this.all = all;
  }

  /** Up to `else` or `end`, which is left for the caller. */
  nodes(depth: number): TemplateNode[] {
    const found: TemplateNode[] = [];
    for (let piece = this.all[this.at]; piece !== undefined; piece = this.all[this.at]) {
      if (depth > MAX_NESTING) throw failure(piece, `nested deeper than ${MAX_NESTING}`);
      if (piece.kind === "text") {
        if (piece.text !== "") found.push({ kind: "text", text: piece.text });
      } else if (/^(?:end$|else\b)/.test(piece.text)) return found;
      else if (!/^\/\*[\s\S]*\*\/$/.test(piece.text)) {
        const block = /^(if|with|range)\b([\s\S]*)$/.exec(piece.text);
        if (block !== null) {
          found.push(this.block(block[1] as "if" | "with" | "range", block[2] ?? "", piece, depth));
          continue;
        }
        found.push({ kind: "output", pipe: parsePipe(piece.text, piece) });
      }
      this.at += 1;
    }
    return found;
  }

  expectEnd(): void {
    const left = this.all[this.at];
    if (left !== undefined) throw failure(left, `unexpected {{${left.text}}}`);
  }

  private block(kind: "if" | "with" | "range", head: string, piece: Piece, depth: number): TemplateNode {
    this.at += 1;
    const declared = kind === "range" ? /^\s*((?:\$\w+\s*,\s*)?\$\w+)\s*:=([\s\S]*)$/.exec(head) : null;
    const pipe = parsePipe(declared?.[2] ?? head, piece);
    const body = this.nodes(depth + 1);
    const otherwise = this.otherwise(piece, depth);
    if (kind !== "range") return { kind, pipe, body, otherwise };
    const variables = (declared?.[1] ?? "").split(",").flatMap((name) => (name.trim() === "" ? [] : [name.trim()]));
    return { kind, pipe, variables, body, otherwise };
  }

  private otherwise(opened: Piece, depth: number): Nodes {
    const piece = this.all[this.at];
    if (piece === undefined) throw failure(opened, `{{${opened.text}}} has no {{end}}`);
    const chained = /^else\s+(if|with)\b([\s\S]*)$/.exec(piece.text);
    if (chained !== null) {
      // `else if` ends with the `end` of the block it belongs to.
      return [this.block(chained[1] as "if" | "with", chained[2] ?? "", piece, depth)];
    }
    this.at += 1;
    if (piece.text === "end") return [];
    if (piece.text !== "else") throw failure(piece, `unexpected {{${piece.text}}}`);
    const nodes = this.nodes(depth + 1);
    const end = this.all[this.at];
    if (end?.text !== "end") throw failure(opened, `{{${opened.text}}} has no {{end}}`);
    this.at += 1;
    return nodes;
  }
}

function failure(piece: Piece, message: string): Error {
  return new Error(`template line ${piece.line}: ${message}`);
}

type Word = { readonly operand: Operand } | { readonly mark: string };

function parsePipe(text: string, piece: Piece): Pipe {
  const words = scan(text, piece);
  const state = { at: 0 };
  const pipe = readPipe(words, state, piece, 0);
  if (state.at < words.length) throw failure(piece, `unexpected ) in {{${piece.text}}}`);
  return pipe;
}

function readPipe(words: readonly Word[], state: { at: number }, piece: Piece, depth: number): Pipe {
  if (depth > MAX_NESTING) throw failure(piece, `nested deeper than ${MAX_NESTING}`);
  const commands: Operand[][] = [[]];
  for (; state.at < words.length; state.at++) {
    const word = words[state.at];
    if (word === undefined) break;
    if ("operand" in word) commands.at(-1)?.push(word.operand);
    else if (word.mark === "|") commands.push([]);
    else if (word.mark === "(") {
      state.at += 1;
      commands.at(-1)?.push({ kind: "pipe", pipe: readPipe(words, state, piece, depth + 1) });
      if (state.at >= words.length) throw failure(piece, `( without ) in {{${piece.text}}}`);
    } else if (word.mark === ")" && depth > 0) break;
    else if (word.mark === ")") break;
    else throw failure(piece, `${word.mark} is not in the subset: {{${piece.text}}}`);
  }
  if (commands.some((command) => command.length === 0)) throw failure(piece, `{{${piece.text}}} says nothing`);
  return commands;
}

function scan(text: string, piece: Piece): Word[] {
  const words: Word[] = [];
  let from = 0;
  while (text.slice(from).trim() !== "") {
    WORD.lastIndex = from;
    const found = WORD.exec(text);
    if (found === null) throw failure(piece, `cannot read ${JSON.stringify(text.slice(from).trim().slice(0, 20))}`);
    from = WORD.lastIndex;
    words.push(wordOf(found, piece));
  }
  return words;
}

function wordOf(found: RegExpExecArray, piece: Piece): Word {
  const [, quoted, raw, number, root, fields, variable, name, mark] = found;
  if (quoted !== undefined) return { operand: { kind: "literal", value: unquoted(quoted, piece) } };
  if (raw !== undefined) return { operand: { kind: "literal", value: raw.slice(1, -1) } };
  if (number !== undefined) return { operand: { kind: "literal", value: Number(number) } };
  if (fields !== undefined) {
    if (root !== undefined && !root.startsWith("$")) throw failure(piece, `${root}${fields} is not in the subset`);
    return { operand: { kind: "path", root: root ?? ".", fields: fields.slice(1).split(".") } };
  }
  if (variable !== undefined) return { operand: { kind: "path", root: variable, fields: [] } };
  if (name !== undefined) return { operand: named(name) };
  if (mark === ".") return { operand: { kind: "path", root: ".", fields: [] } };
  return { mark: mark ?? "" };
}

function named(name: string): Operand {
  if (name === "true" || name === "false") return { kind: "literal", value: name === "true" };
  return name === "nil" ? { kind: "literal", value: null } : { kind: "function", name };
}

function unquoted(text: string, piece: Piece): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error(`template line ${piece.line}: bad string ${text}`, { cause });
  }
}
