/** The tokens of the language and how messages name them. */

const names = [
  "illegal token",
  "end of file",
  "newline",
  "indent",
  "outdent",
  "identifier",
  "int literal",
  "float literal",
  "string literal",
  "bytes literal",
  "+",
  "-",
  "*",
  "/",
  "//",
  "%",
  "&",
  "|",
  "^",
  "<<",
  ">>",
  "~",
  ".",
  ",",
  "=",
  ";",
  ":",
  "(",
  ")",
  "[",
  "]",
  "{",
  "}",
  "<",
  ">",
  ">=",
  "<=",
  "==",
  "!=",
  "+=",
  "-=",
  "*=",
  "/=",
  "//=",
  "%=",
  "&=",
  "|=",
  "^=",
  "<<=",
  ">>=",
  "**",
  "and",
  "break",
  "continue",
  "def",
  "elif",
  "else",
  "for",
  "if",
  "in",
  "lambda",
  "load",
  "not",
  "not in",
  "or",
  "pass",
  "return",
  "while",
] as const;

/** A token by its text; the first ten are classes of text. */
export type Token = (typeof names)[number];

/** Words of Python that scripts may not use as names; `assert` is deliberately free. */
const reserved = "as class del except finally from global import is nonlocal raise try with yield".split(" ");

const firstWord = names.indexOf("and");

/** Identifier text that is a keyword, or a reserved word (which scans as an illegal token). */
export const keywords: ReadonlyMap<string, Token> = new Map<string, Token>([
  ...names
    .slice(firstWord)
    .filter((n) => n !== "not in")
    .map((n): [string, Token] => [n, n]),
  ...reserved.map((n): [string, Token] => [n, "illegal token"]),
]);

const marks: readonly Token[] = names.slice(names.indexOf("+"), firstWord);
const punctuation: ReadonlySet<string> = new Set(marks);

/** The longest first. Brackets, which change how lines end, and the dot, which may begin a number, are not among them. */
export const operators: readonly Token[] = marks
  .filter((mark) => !"()[]{}.".includes(mark))
  .toSorted((a, b) => b.length - a.length);

/** As messages show it: punctuation in quotes, words and classes bare. */
export function showToken(token: Token): string {
  return punctuation.has(token) ? `'${token}'` : token;
}
