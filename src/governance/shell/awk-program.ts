/**
 * A small grammar of awk programs that only compute and print. It knows no redirection, pipe, `getline`, `system`, function
 * definition or directive; a program outside the grammar is not accepted, whatever it would do.
 */
import { wordSet } from "#base";
import { type AwkToken, awkTokens, isAwkVariable } from "./awk-words.ts";

const MAX_NESTED = 40;
const INFIX = wordSet("+ - * / % ^ < <= == != >= > ~ !~ && || ? : = += -= *= /= %= ^=");
/** In a statement, outside parentheses, some awk may read the beginning of a redirection in them. */
const REDIRECTS = new Set([">", ">=", "||"]);
const UNARY = new Set(["!", "-", "+", "++", "--", "$"]);
/** A third argument of these names a function that compares. */
const SORTERS = new Set(["asort", "asorti"]);

/** True when every awk only reads its operands and prints. */
export function isHarmlessAwk(program: string): boolean {
  const tokens = awkTokens(program);
  if (tokens === undefined) return false;
  const reader = createReader(tokens);
  return readRules(reader);
}

/** True for `name=value` as `-v` and operands take it, when the variable is one that the program itself could set. */
export function isHarmlessAwkAssignment(text: string): boolean {
  const cut = text.indexOf("=");
  return cut > 0 && isAwkVariable(text.slice(0, cut)) && !text.includes("\n");
}

interface Reader {
  peek(): AwkToken;
  /** Goes on when the next token is this operator or keyword. */
  take(text: string): boolean;
  advance(): void;
  /** Runs `read` one level deeper; false beyond the bound. */
  nested(read: () => boolean): boolean;
  mark(): number;
  back(mark: number): void;
}

function createReader(tokens: readonly AwkToken[]): Reader {
  const end: AwkToken = { kind: "end", text: "" };
  let at = 0;
  let depth = 0;
  const peek = (): AwkToken => tokens[at] ?? end;
  return {
    peek,
    take: (text) => {
      const { kind, text: found } = peek();
      if (found !== text || (kind !== "operator" && kind !== "keyword")) return false;
      at++;
      return true;
    },
    advance: () => {
      at++;
    },
    nested: (read) => {
      depth++;
      const done = depth <= MAX_NESTED && read();
      depth--;
      return done;
    },
    mark: () => at,
    back: (mark) => {
      at = mark;
    },
  };
}

function skipBreaks(reader: Reader): void {
  while (reader.take(";") || reader.take("\n"));
}

function skipLines(reader: Reader): void {
  while (reader.take("\n"));
}

/** The end of a statement: a mark that ends it, or what closes the block around it. */
function endsHere(reader: Reader): boolean {
  return reader.take(";") || reader.take("\n") || reader.peek().text === "}" || reader.peek().kind === "end";
}

function readRules(reader: Reader): boolean {
  for (skipBreaks(reader); reader.peek().kind !== "end"; skipBreaks(reader)) {
    if (reader.take("BEGIN") || reader.take("END")) {
      if (!readBlock(reader)) return false;
    } else if (reader.peek().text === "{") {
      if (!readBlock(reader)) return false;
    } else {
      if (!readExpression(reader, false)) return false;
      if (reader.take(",") && !readExpression(reader, false)) return false;
      const whole = reader.peek().text === "{" ? readBlock(reader) : endsHere(reader) && reader.peek().text !== "}";
      if (!whole) return false;
    }
  }
  return true;
}

function readBlock(reader: Reader): boolean {
  if (!reader.take("{")) return false;
  return reader.nested(() => {
    for (skipBreaks(reader); !reader.take("}"); skipBreaks(reader)) if (!readStatement(reader)) return false;
    return true;
  });
}

/** One statement, or the empty one that is only a `;`. */
function readStatement(reader: Reader): boolean {
  return reader.nested(() => {
    if (reader.take(";")) return true;
    if (reader.peek().text === "{") return readBlock(reader);
    if (reader.take("if")) return readCondition(reader) && readBody(reader) && readElse(reader);
    if (reader.take("while")) return readCondition(reader) && readBody(reader);
    if (reader.take("for")) return readHeader(reader) && readBody(reader);
    if (reader.take("do")) {
      if (!readBody(reader)) return false;
      skipBreaks(reader);
      return reader.take("while") && readCondition(reader) && endsHere(reader);
    }
    return readSimple(reader) && endsHere(reader);
  });
}

function readBody(reader: Reader): boolean {
  skipLines(reader);
  return readStatement(reader);
}

function readElse(reader: Reader): boolean {
  const mark = reader.mark();
  skipBreaks(reader);
  if (reader.take("else")) return readBody(reader);
  reader.back(mark);
  return true;
}

function readCondition(reader: Reader): boolean {
  return reader.take("(") && readExpression(reader, false) && reader.take(")");
}

/** `(a; b; c)`, each of them optional, or `(name in array)`. */
function readHeader(reader: Reader): boolean {
  if (!reader.take("(")) return false;
  for (let parts = 0; parts < 3; parts++) {
    const text = reader.peek().text;
    if (text !== ";" && text !== ")" && !readSimple(reader)) return false;
    if (reader.take(")")) return parts !== 1;
    if (!reader.take(";")) return false;
  }
  return false;
}

function readSimple(reader: Reader): boolean {
  if (reader.take("next") || reader.take("nextfile") || reader.take("break") || reader.take("continue")) return true;
  if (reader.take("exit")) return endsStatement(reader) || readExpression(reader, true);
  if (reader.take("delete")) return reader.peek().kind === "name" && readExpression(reader, true);
  if (reader.take("print")) return endsStatement(reader) || readList(reader, true);
  if (reader.take("printf")) return readList(reader, true);
  return readExpression(reader, true);
}

function endsStatement(reader: Reader): boolean {
  const { kind, text } = reader.peek();
  return kind === "end" || (kind === "operator" && (text === ";" || text === "\n" || text === "}"));
}

function readList(reader: Reader, bare: boolean): boolean {
  do if (!readExpression(reader, bare)) return false;
  while (reader.take(","));
  return true;
}

/**
 * Operands with operators or nothing between them. Precedence does not matter: whichever way an awk groups these tokens,
 * none of them writes or runs. `bare` is a statement outside parentheses, where `>` may follow a `print`.
 */
function readExpression(reader: Reader, bare: boolean): boolean {
  return reader.nested(() => {
    for (;;) {
      while (reader.peek().kind === "operator" && UNARY.has(reader.peek().text)) reader.advance();
      if (!readOperand(reader)) return false;
      if (!reader.take("++")) reader.take("--");
      const { kind, text } = reader.peek();
      if ((kind === "operator" && INFIX.has(text)) || (kind === "keyword" && text === "in")) {
        if (bare && REDIRECTS.has(text)) return false;
        reader.advance();
      } else if (!startsOperand(reader.peek())) {
        return true;
      }
    }
  });
}

/** What may stand beside another operand, which joins their texts. */
function startsOperand({ kind, text }: AwkToken): boolean {
  if (kind === "operator") return text === "$" || text === "(";
  return kind === "number" || kind === "string" || kind === "name" || kind === "function";
}

function readOperand(reader: Reader): boolean {
  const { kind, text } = reader.peek();
  reader.advance();
  switch (kind) {
    case "number":
    case "string":
    case "pattern":
      return true;
    case "name":
      if (reader.take("[")) return readList(reader, false) && reader.take("]");
      // It might be a function that the program does not define.
      return reader.peek().text !== "(";
    case "function":
      return readCall(reader, text);
    case "operator":
      return text === "(" && readList(reader, false) && reader.take(")");
    default:
      return false;
  }
}

function readCall(reader: Reader, name: string): boolean {
  if (!reader.take("(")) return name === "length";
  if (reader.take(")")) return true;
  let count = 1;
  while (readExpression(reader, false)) {
    if (reader.take(")")) return count <= 2 || !SORTERS.has(name);
    if (!reader.take(",")) return false;
    count++;
  }
  return false;
}
