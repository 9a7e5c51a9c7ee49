/** Floats to text, digit for digit as Go's strconv does it. */

export type FloatVerb = "e" | "f" | "g" | "E" | "F" | "G";

/** %g is the shortest text that reads back the same and always looks like a float; %e and %f have six digits. */
export function formatFloat(v: number, verb: FloatVerb): string {
  if (Number.isNaN(v)) return "nan";
  if (!Number.isFinite(v)) return v > 0 ? "+inf" : "-inf";
  const sign = v < 0 || Object.is(v, -0) ? "-" : "";
  const text = sign + formatAbs(Math.abs(v), verb.toLowerCase());
  return verb >= "a" ? text : text.toUpperCase();
}

function formatAbs(v: number, verb: string): string {
  if (verb === "g") return shortest(v);
  return verb === "e" ? exponential(v) : fixed(v);
}

/** Exponent from which %g switches form. */
const G_EXPONENT = 6;
const PRECISION = 6;
/** More digits than any tie needs; the most JS gives. */
const MANY = 100;

function shortest(v: number): string {
  const [digits, exponent] = decompose(v.toExponential());
  if (exponent < -4 || exponent >= G_EXPONENT) return scientific(digits, exponent);
  if (exponent < 0) return `0.${"0".repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, "0");
  return `${whole}.${digits.slice(exponent + 1) || "0"}`;
}

function decompose(text: string): [digits: string, exponent: number] {
  const at = text.indexOf("e");
  return [text.slice(0, at).replace(".", ""), Number(text.slice(at + 1))];
}

function scientific(digits: string, exponent: number): string {
  const fraction = digits.length > 1 ? `.${digits.slice(1)}` : "";
  const magnitude = String(Math.abs(exponent)).padStart(2, "0");
  return `${digits.slice(0, 1)}${fraction}e${exponent < 0 ? "-" : "+"}${magnitude}`;
}

function exponential(v: number): string {
  const [digits, exponent] = decompose(roundEven(v.toExponential(PRECISION), v.toExponential(MANY), PRECISION + 1));
  return scientific(digits, exponent);
}

function fixed(v: number): string {
  if (v >= 1e21) return `${BigInt(v)}.${"0".repeat(PRECISION)}`;
  const exact = v.toFixed(MANY);
  return roundEven(v.toFixed(PRECISION), exact, exact.indexOf(".") + PRECISION);
}

/** JS rounds an exact tie up, Go to the even digit. `kept` counts the digits (and the point) that stay. */
function roundEven(rounded: string, exact: string, kept: number): string {
  const at = kept + 1;
  const mantissa = exact.split("e")[0] ?? "";
  const rest = mantissa.slice(at);
  if (!/^50*$/.test(rest)) return rounded;
  const last = Number(mantissa[at - 1]);
  if (last % 2 !== 0) return rounded;
  const exponent = exact.includes("e") ? `e${exact.split("e")[1]}` : "";
  return mantissa.slice(0, at) + exponent;
}
