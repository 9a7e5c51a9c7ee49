/** A conversation with the language, as in a REPL: each piece of text sees what those before it defined. Nothing is frozen. */
import { asStarlarkError, settle } from "./calls.ts";
import { drive } from "./driver.ts";

import { mayBeAsync } from "./host-builtin.ts";
import { toStarlark } from "./interop.ts";
import { type CompileOptions, checkSyntax, compile, noModules } from "./program.ts";
import { parseExpression } from "./syntax/parser.ts";
import { makeSource } from "./syntax/source.ts";
import { Thread, type ThreadOptions } from "./thread.ts";
import { repr } from "./values/repr.ts";
import { decodeUtf8 } from "./values/utf8.ts";
import { Pending, type Value } from "./values/values.ts";

/** The name that holds an expression's value for a moment; scripts cannot spell it. */
const RESULT = "<result>";

export interface Session {
  /** Runs statements or evaluates an expression. Returns the text of its value, or null if there is none to show. */
  run(text: string, options?: ThreadOptions): Promise<string | null>;
  /** Would more lines make it whole? True for open brackets, strings and blocks. */
  isIncomplete(text: string): boolean;
}

/** A session cannot load modules. Its dialect allows control flow and reassignment at top level unless told otherwise. */
export function createSession(options: Omit<CompileOptions, "load"> = {}): Session {
  const globals = new Map<string, Value>();
  const asynchronous = Object.values(options.predeclared ?? {}).some((v) => mayBeAsync(toStarlark(v)));
  const mode = asynchronous ? "generator" : "sync";
  return {
    async run(text, threadOptions = {}) {
      const isExpression = parseExpression(makeSource("<stdin>", text)).issues.length === 0;
      const source = isExpression ? `_ = (${text}\n)` : text;
      // The parenthesis stands before the text, so that columns are those the person typed.
      const place = isExpression ? { firstColumn: 1 - "_ = (".length } : {};
      const dialect = { topLevelControl: true, globalReassign: true, ...options.dialect };
      try {
        const program = compile(source, "<stdin>", { ...options, ...place, dialect, values: globals });
        const thread = new Thread(threadOptions);
        const linked = program.link(mode, noModules);
        try {
          const result = linked.top(thread);
          // In generator mode the top level returns a generator where its type says Value.
          if (asynchronous) {
            await drive(thread, settle(new Pending(result as unknown as Generator<unknown, Value, Value>)));
          }
        } finally {
          keep(program.globals, linked.all(), isExpression);
        }
        const value = globals.get(RESULT);
        globals.delete(RESULT);
        return value === undefined || value === null ? null : decodeUtf8(repr(thread, value));
      } catch (e) {
        throw asStarlarkError(e).seal();
      }
    },
    isIncomplete(text) {
      const [first] = checkSyntax(text, "<stdin>");
      return first !== undefined && /^(?:got end of file|unexpected EOF)/.test(first.message);
    },
  };

  /** What was defined before an error stays defined. */
  function keep(
    names: readonly { readonly name: string }[],
    values: readonly (Value | undefined)[],
    isExpression: boolean,
  ): void {
    names.forEach(({ name }, i) => {
      const v = values[i];
      if (v !== undefined) globals.set(isExpression ? RESULT : name, v);
    });
  }
}
