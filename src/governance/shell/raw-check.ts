/**
 * Compares the tree that the parser made of a shell command with what a scan of the raw text finds on its own. The tree is
 * trusted only where both agree on every word, quote, expansion and substitution, and where no character is left over.
 */

import { forEachChild, type ParsedScript, type SyntaxNode, type WordPart } from "unbash";
import { wordSet } from "#base";
import type { RawKind, RawMark, RawScan } from "./raw-scan.ts";

/** Words that the parser takes as part of the grammar and that have no node of their own. */
const GRAMMAR = wordSet(
  "if then elif else fi time for in do done while until case esac select function coproc { } ! [[ ]] -p --",
);

/** Why the tree of `source` cannot be trusted, given the scan of the same text, or undefined. Linear in the length of the text. */
export function rawProblem(script: ParsedScript, source: string, scan: RawScan): string | undefined {
  if (scan.refused !== undefined) return scan.refused;
  const tree = treeMarks(script);
  if (typeof tree === "string") return tree;
  const { marks, conditions } = tree;
  const known = new Set(marks.map(keyOf));
  const found = new Set(scan.marks.map(keyOf));
  const missed = scan.marks.find(
    (mark) =>
      !known.has(keyOf(mark)) &&
      !(mark.kind === "word" && (GRAMMAR.has(source.slice(mark.pos, mark.end)) || isInside(mark, conditions))),
  );
  if (missed !== undefined) return disagreement(missed);
  const invented = marks.find((mark) => !found.has(keyOf(mark)));
  return invented === undefined ? undefined : disagreement(invented);
}

function disagreement({ kind, pos }: RawMark): string {
  return `the parser misreads the ${NAMES[kind]} at character ${pos + 1}`;
}

const NAMES: Readonly<Record<RawKind, string>> = {
  word: "word",
  single: "quotes",
  double: "quotes",
  ansi: "quotes",
  variable: "variable",
  parameter: "expansion",
  arithmetic: "arithmetic",
  command: "command substitution",
  process: "process substitution",
  here: "here-document",
  "quoted-here": "here-document",
};

function keyOf({ kind, pos, end }: RawMark): string {
  return `${kind} ${pos} ${end}`;
}

type Span = Pick<RawMark, "pos" | "end">;

function isInside({ pos, end }: Span, spans: readonly Span[]): boolean {
  return spans.some((span) => span.pos <= pos && end <= span.end);
}

const KINDS: Readonly<Partial<Record<SyntaxNode["type"], RawKind>>> = {
  Assignment: "word",
  SingleQuoted: "single",
  DoubleQuoted: "double",
  AnsiCQuoted: "ansi",
  SimpleExpansion: "variable",
  ParameterExpansion: "parameter",
  ArithmeticExpansion: "arithmetic",
  CommandExpansion: "command",
  ProcessSubstitution: "process",
  FileDescriptor: "word",
  FileDescriptorVariable: "word",
};

interface TreeMarks {
  readonly marks: readonly RawMark[];
  /** The `[[ … ]]`, whose operators are words to the scan. */
  readonly conditions: readonly Span[];
}

/** The constructs that the parser found; a string when characters in a word belong to none of its parts. */
function treeMarks(script: ParsedScript): TreeMarks | string {
  const marks: RawMark[] = [];
  const conditions: Span[] = [];
  let problem: string | undefined;
  const unread = (node: Span): void => {
    problem ??= `the parser skips a part of the word at character ${node.pos + 1}`;
  };
  const visit = (node: SyntaxNode): void => {
    if (problem !== undefined) return;
    const kind = KINDS[node.type];
    if ("pos" in node && kind !== undefined) marks.push({ kind, pos: node.pos, end: node.end });
    switch (node.type) {
      case "Word":
        marks.push({ kind: "word", pos: node.pos, end: node.end });
        visitParts(node, node.pos, node.end);
        if (node.parts === undefined && unescaped(node.text) !== node.value) unread(node);
        return;
      case "Assignment":
        // The scan does not read arrays; their parentheses end it.
        if (node.value.type === "Word") {
          visitParts(node.value, node.value.pos, node.value.end);
          if (node.value.parts === undefined && unescaped(node.value.text) !== node.value.value) unread(node);
        }
        return;
      case "DoubleQuoted":
        visitParts(node, node.pos + 1, node.end - 1, unescapedInQuotes);
        return;
      case "HereDoc":
        if (node.descriptor !== undefined) visit(node.descriptor);
        visitHere(node);
        return;
      case "TestCommand":
        conditions.push(node);
        forEachChild(node, visit);
        return;
      case "ParameterExpansion":
      case "ArithmeticExpansion":
      case "ArithmeticCommand":
        // The scan accepts only plain text in these.
        return;
      default:
        forEachChild(node, visit);
    }
  };
  const visitHere = ({ body, delimiter }: Extract<SyntaxNode, { type: "HereDoc" }>): void => {
    marks.push({ kind: delimiter?.quoted === true ? "quoted-here" : "here", pos: body.pos, end: body.end });
    for (const part of body.parts ?? []) visit(part);
  };
  const visitParts = (
    word: Span & { readonly parts?: readonly WordPart[] | undefined },
    from: number,
    to: number,
    literal = unescaped,
  ): void => {
    if (word.parts === undefined) return;
    let at = from;
    for (const part of word.parts) {
      if (part.pos !== at || (part.type === "Literal" && part.value !== literal(part.text))) unread(word);
      at = part.end;
      visit(part);
    }
    if (at !== to) unread(word);
  };
  visit(script);
  return problem ?? { marks, conditions };
}

/** A word without quotes as the shell has it. */
function unescaped(text: string): string {
  return text.replace(/\\(.)/gs, "$1");
}

function unescapedInQuotes(text: string): string {
  return text.replace(/\\([$`"\\])/g, "$1");
}
