/** Runs a program as the oracle does, in both modes, and says where the answers differ. */
import {
  Builtin,
  call,
  compile,
  freezeValue,
  jsonModule,
  Pending,
  StarlarkError,
  settle,
  structBuiltin,
  type Value,
} from "./internals.ts";

/** What was printed, and the error that ended the program, with its traceback. */
export interface Answer {
  readonly out: string;
  readonly error: string;
}

export interface Difference {
  /** A value differs, or whether there is an error at all; else only the text or the place of an error. */
  readonly isValue: boolean;
  readonly ours: string;
  readonly theirs: string;
}

function caught(e: unknown): Value {
  if (e instanceof StarlarkError && e.kind === "runtime") return e.message;
  throw e;
}

/** The message of what a function fails with, or None. As an asynchronous built-in it makes the whole program a generator. */
function catcher(isAsync: boolean): Builtin {
  function* steps(pending: Pending): Generator<unknown, Value, Value> {
    try {
      yield* settle(pending);
      return null;
    } catch (e) {
      return caught(e);
    }
  }
  return new Builtin(
    {
      name: "catch",
      impl(t, _self, args) {
        try {
          const result = call(t, args[0] ?? null, []);
          return result instanceof Pending ? new Pending(steps(result), "catch") : null;
        } catch (e) {
          return caught(e);
        }
      },
    },
    undefined,
    isAsync,
  );
}

const freeze = new Builtin({
  name: "freeze",
  impl(_t, _self, args) {
    freezeValue(args[0]);
    return null;
  },
});

/** Our answer, from synchronous code or from generators. */
export async function answerOf(program: string, mode: "sync" | "generator"): Promise<Answer> {
  let out = "";
  const print = (line: string): void => {
    out += `${line}\n`;
  };
  const predeclared = { catch: catcher(mode === "generator"), freeze, json: jsonModule, struct: structBuiltin };
  try {
    const compiled = compile(program, "program.star", { predeclared });
    if (mode === "sync") compiled.initSync({ print });
    else await compiled.init({ print });
    return { out, error: "" };
  } catch (e) {
    if (!(e instanceof StarlarkError)) throw e;
    return { out, error: e.issues.length > 0 ? e.message : e.backtrace() };
  }
}

/** Methods that starlark-go's sets do not have, as Bazel's do; `dir` lists them. */
const extraMethods = /"(?:difference_update|intersection_update|isdisjoint|symmetric_difference_update)", /g;
/** Ours take any number of iterables, as Bazel's do. */
const oneIterable = /(?:difference|intersection): got \d+ arguments, want at most 1$/;

/** Where two answers differ: in a value if there is such a line, else in the first error, or null. */
export function difference(ours: Answer, theirs: Answer): Difference | null {
  const [a, b] = [linesOf(ours), linesOf(theirs)];
  let message: Difference | null = null;
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const [x, y] = [a[i] ?? "(nothing)", b[i] ?? "(nothing)"];
    if (x === y) continue;
    // What follows from more than that cannot be compared.
    if (oneIterable.test(y)) break;
    if (!(x.startsWith("error: ") && y.startsWith("error: "))) return { isValue: true, ours: x, theirs: y };
    message ??= { isValue: false, ours: x, theirs: y };
  }
  return message;
}

/** What was printed, and the error that ended the program as one line. */
function linesOf({ out, error }: Answer): string[] {
  const lines = out.replaceAll(extraMethods, "").split("\n").slice(0, -1);
  return error === "" ? lines : [...lines, `error: ${error.replaceAll("\n", " | ")}`];
}
