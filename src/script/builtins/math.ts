/** `math`: numbers. */
import { numberOf, typeName } from "../arguments.ts";
import { type Arguments, everyone, type FunctionRow, module, row } from "./definition.ts";

/** An int keeps being one, whatever its size. */
function magnitude(args: Arguments): number | bigint {
  const { x } = args;
  if (typeof x === "bigint") return x < 0n ? -x : x;
  return Math.abs(numberOf(args, "x"));
}

function rounded(name: "ceil" | "floor", meaning: string): FunctionRow {
  return row(`${name}(x)`, "int", meaning).runs((args) => {
    const { x } = args;
    if (typeof x === "bigint") return x;
    const value = numberOf(args, "x");
    if (!Number.isFinite(value)) throw new Error(`cannot make an int of ${value}`);
    return BigInt(Math[name](value));
  });
}

function chosen(name: "max" | "min", meaning: string, better: (a: number | bigint, b: number | bigint) => boolean) {
  return row(`${name}(a, b)`, "number", meaning).runs((args: Arguments) => {
    const [a, b] = [numeric(args.a), numeric(args.b)];
    return better(b, a) ? b : a;
  });
}

function numeric(value: unknown): number | bigint {
  if (typeof value === "number" || typeof value === "bigint") return value;
  throw new Error(`got ${typeName(value)}, want number`);
}

export const math = module("math", "Numbers", everyone, [
  row("abs(x)", "number", "The absolute value. An int stays an int.").runs(magnitude),
  rounded("ceil", "Rounded up to an int."),
  rounded("floor", "Rounded down to an int."),
  chosen("max", "The larger of two numbers.", (b, a) => b > a),
  chosen("min", "The smaller of two numbers.", (b, a) => b < a),
]);
