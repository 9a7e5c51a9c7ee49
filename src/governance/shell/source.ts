/**
 * The text of a shell command before it is read as a tree: bounds, characters that hide something, and whether the parser
 * has accounted for every character. Says only whether the text may be trusted to mean what its tree says.
 */
import { forEachChild, type ParsedScript, type SyntaxNode } from "unbash";

export const MAX_COMMAND_BYTES = 32 * 1024;

/** Spaces and marks that look like nothing or like a blank, and that shells and people read differently. */
const ODD_CHARACTERS = /(?![\n\t ])[\p{Cc}\p{Cf}\p{Z}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Parentheses and braces inside each other, in quotes or not: the parser takes long over more. */
const MAX_NESTING = 40;

function deepestNesting(source: string): number {
  let [depth, deepest] = [0, 0];
  for (const char of source) {
    if (char === "(" || char === "{") deepest = Math.max(deepest, ++depth);
    else if ((char === ")" || char === "}") && depth > 0) depth--;
  }
  return deepest;
}

/** Why the text is not even read, or undefined. */
export function unreadSource(source: string): string | undefined {
  if (source.length > MAX_COMMAND_BYTES || Buffer.byteLength(source) > MAX_COMMAND_BYTES) {
    return `it is longer than ${MAX_COMMAND_BYTES / 1024} KB`;
  }
  return deepestNesting(source) > MAX_NESTING ? "it is nested too deeply" : undefined;
}

/** Why the text may be read and is not to be trusted, or undefined. */
export function refusedSource(source: string): string | undefined {
  return ODD_CHARACTERS.test(source) ? "it contains control characters or unusual spaces" : undefined;
}

/** True for a word with letters that may be drawn like others. */
export function mayLookAlike(word: string): boolean {
  return /[^ -~]/.test(word);
}

/** The first thing that the parser stumbled over or passed over in this script or one inside it, or undefined. */
export function misreadPart(script: ParsedScript, source: string): string | undefined {
  const text = script.source ?? source;
  const [error] = script.errors ?? [];
  if (error !== undefined) return `${error.message} at character ${error.pos + 1}`;
  if (script.shebang !== undefined) return "it begins with a #! line";
  if (!coversSource(script, text)) return "the parser did not read all of it";
  let inner: string | undefined;
  const visit = (node: SyntaxNode): void => {
    if (inner !== undefined) return;
    if (node.type === "Script") inner = misreadPart(node, text);
    else forEachChild(node, visit);
  };
  forEachChild(script, visit);
  return inner;
}

/** What may stand between the words the parser found: blanks, operators, keywords. */
const BETWEEN_WORDS =
  /^(?:[\s;&|(){}!]|\\\n|\b(?:if|then|elif|else|fi|time|for|in|do|done|while|until|select|case|esac|function|coproc)\b|-p\b|--)*$/;

interface Span {
  readonly pos: number;
  readonly end: number;
}

/**
 * The parser recovers from some mistakes without a word, such as a stray parenthesis. Nothing but words, operators and
 * comments may be left over, and each parenthesis must belong to a subshell, a function or a case that it found.
 */
function coversSource(script: ParsedScript, source: string): boolean {
  const spans: Span[] = [];
  let subshells = 0;
  let optional = 0;
  const visit = (node: SyntaxNode): void => {
    if (node.type === "Subshell") subshells++;
    if (node.type === "Function" || node.type === "CaseItem") optional++;
    switch (node.type) {
      case "Word":
      case "Assignment":
      case "Redirect":
      case "HereString":
      case "TestCommand":
      case "ArithmeticCommand":
        spans.push(node);
        break;
      case "ArithmeticFor":
        spans.push({ pos: node.pos, end: node.body.pos });
        visit(node.body);
        break;
      case "HereDoc":
        spans.push({ pos: node.pos, end: node.delimiter?.end ?? node.end }, node.body, node.closing ?? node.body);
        break;
      default:
        forEachChild(node, visit);
    }
  };
  visit(script);
  let at = script.pos;
  let rest = "";
  for (const { pos, end } of spans.toSorted((a, b) => a.pos - b.pos)) {
    rest += `${source.slice(at, Math.max(at, pos))} `;
    at = Math.max(at, end);
  }
  rest = `${rest}${source.slice(at, Math.max(at, script.end))}`.replace(/#[^\n]*/g, "");
  const opened = rest.split("(").length - 1;
  const closed = rest.split(")").length - 1;
  const balanced =
    opened >= subshells && opened <= subshells + optional && closed >= opened && closed <= subshells + optional;
  return BETWEEN_WORDS.test(rest) && balanced;
}
