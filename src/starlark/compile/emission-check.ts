/**
 * The last wall before generated code runs: it must consist of words and marks we know. Since no text of a program is ever
 * emitted, anything else is a bug in the emitter, and the program is refused.
 */
import { runtime } from "../runtime.ts";

const keywords = (
  "break case catch const continue else false finally for function if instanceof let new null return throw true " +
  "try undefined while yield"
).split(" ");
/** Properties of the runtime's own objects. */
const properties = "a active add alloc defaults delete depth fuel g has j length maxDepth memory n push refuel".split(
  " ",
);
/** Parameters of the factory and fixed local names. */
const fixed = "C D E K L P R T e o p q x top all".split(" ");

const words: ReadonlySet<string> = new Set([...keywords, ...properties, ...fixed, ...Object.keys(runtime)]);
const numbered = /^[a-z][0-9]+$/;
const token = /[A-Za-z_$][A-Za-z0-9_$]*|[0-9]+|[\s(){}[\];,:?.=!<>+\-*&|]/y;
export const PROLOGUE = '"use strict";';

/** Throws unless every token of the code is known. */
export function checkEmission(code: string): void {
  if (!code.startsWith(PROLOGUE)) throw new Error("generated code lacks its prologue");
  token.lastIndex = PROLOGUE.length;
  while (token.lastIndex < code.length) {
    const from = token.lastIndex;
    const found = token.exec(code)?.[0];
    if (found === undefined) throw new Error(`generated code has an unknown character at ${from}`);
    const c = found.charCodeAt(0);
    const isWord = (c >= 97 && c <= 122) || (c >= 65 && c <= 90) || c === 95 || c === 36;
    if (isWord && !words.has(found) && !numbered.test(found)) {
      throw new Error(`generated code has the unknown word ${found}`);
    }
  }
}
