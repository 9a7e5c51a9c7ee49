/** Whether a `[[ … ]]` only looks: some of its operators read their operands as arithmetic, which can run code. */
import type { TestExpression, Word } from "unbash";
import { HIDDEN_CODE, type Scope } from "./words.ts";

const COMPARES_NUMBERS = /^-(?:eq|ne|lt|le|gt|ge)$/;
/** `-v` and `-R` take names with subscripts; `-t` and the ages of files are harmless, `-o` asks for a shell option. */
const LOOKS = /^-[abcdefghknoprstuwxzGLNOS]$/;
const COMPARES = /^(?:==|=|!=|=~|<|>|-nt|-ot|-ef)$/;

/** Why the expression may do more than look, or undefined. */
export function conditionProblem(expression: TestExpression, scope: Scope): string | undefined {
  switch (expression.type) {
    case "TestLogical":
      return expression.operands.map((operand) => conditionProblem(operand, scope)).find((why) => why !== undefined);
    case "TestNot":
      return conditionProblem(expression.operand, scope);
    case "TestGroup":
      return conditionProblem(expression.expression, scope);
    case "TestUnary":
      return LOOKS.test(expression.operator) ? undefined : HIDDEN_CODE;
    case "TestBinary":
      if (COMPARES.test(expression.operator)) return undefined;
      return COMPARES_NUMBERS.test(expression.operator) &&
        [expression.left, expression.right].every((word) => isNumber(word, scope))
        ? undefined
        : HIDDEN_CODE;
  }
}

function isNumber(word: Word, scope: Scope): boolean {
  if (/^\d+$/.test(word.text)) return true;
  const name = /^"?\$\{?(\w+)\}?"?$/.exec(word.text)?.[1];
  const value = name === undefined || scope.untrusted.has(name) ? undefined : scope.variables.get(name);
  return (value?.kind === "text" && /^\d+$/.test(value.text)) || /^"?\$[?#]"?$/.test(word.text);
}
