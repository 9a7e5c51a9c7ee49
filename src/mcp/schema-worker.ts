/**
 * Checks values against schemas of others, in a thread that is ended when it takes too long. Patterns run on an engine whose time is
 * linear; one that this engine does not know is left out.
 */
import { parentPort } from "node:worker_threads";
import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { RE2JS } from "re2js";

export interface CheckRequest {
  /** Names the schema in later requests; it comes with the first one only. */
  readonly key: number;
  readonly schema?: Readonly<Record<string, unknown>>;
  readonly value: unknown;
}

export interface CheckReply {
  /** What does not match, one line each; empty: it fits. */
  readonly problems: readonly string[];
  /** Patterns that are not checked. */
  readonly leftOut: readonly string[];
  /** The processor time of this thread so far. */
  readonly cpuMs: number;
}

/** Their values are data, not schemas. */
const DATA_KEYS = new Set(["const", "enum", "default", "examples"]);
const MAX_PATTERN_CHARS = 1_000;
const options = { strict: false, validateFormats: false, logger: false, code: { regExp: linearPattern } } as const;

let leftOut: string[] = [];
// Made when a schema needs one: each compiles the schema of its draft first, and most programs need only one of them.
let older: Ajv | undefined;
let newer: Ajv2020 | undefined;
const compiled = new Map<number, ValidateFunction | string>();

parentPort?.on("message", ({ key, schema, value }: CheckRequest) => {
  leftOut = [];
  if (schema !== undefined) compiled.set(key, compile(schema));
  reply(check(compiled.get(key), value));
});

function reply(problems: readonly string[]): void {
  const { user, system } = process.threadCpuUsage();
  parentPort?.postMessage({ problems, leftOut, cpuMs: (user + system) / 1_000 } satisfies CheckReply);
}

function compile(schema: Readonly<Record<string, unknown>>): ValidateFunction | string {
  const plain = withoutNames(schema);
  const ajv = checkerFor(schema);
  try {
    return ajv.compile(plain);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    ajv.removeSchema(plain);
  }
}

function checkerFor(schema: Readonly<Record<string, unknown>>): Ajv | Ajv2020 {
  if (usesOlderDraft(schema)) {
    older ??= new Ajv(options);
    return older;
  }
  newer ??= new Ajv2020(options);
  return newer;
}

function check(validate: ValidateFunction | string | undefined, value: unknown): string[] {
  if (typeof validate !== "function") return [`The schema of the tool cannot be used: ${validate}.`];
  try {
    return validate(value) ? [] : (validate.errors ?? []).map(problem);
  } catch (error) {
    if (error instanceof RangeError) return ["The schema of the tool is too deep for these arguments."];
    throw error;
  }
}

function problem({ instancePath, message, params }: ErrorObject): string {
  const name: unknown = params.additionalProperty ?? params.allowedValues;
  const detail = name === undefined ? "" : ` (${JSON.stringify(name).slice(0, 200)})`;
  return `${instancePath === "" ? "" : `${instancePath.slice(1)}: `}${message ?? "does not match"}${detail}.`;
}

/** Draft 7 is what most servers write without saying so; lists of schemas under `items` are its own. */
function usesOlderDraft(schema: Readonly<Record<string, unknown>>): boolean {
  const { $schema } = schema;
  if (typeof $schema === "string") return !/20(?:19|20)-/.test($schema);
  return JSON.stringify(schema).includes('"items":[');
}

/** The same name twice would be an error of ajv. */
function withoutNames(value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, field]) => !((key === "$id" || key === "$schema") && typeof field === "string"))
      .map(([key, field]) => [key, DATA_KEYS.has(key) ? field : inside(field)]),
  );
}

function inside(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inside);
  return typeof value === "object" && value !== null ? withoutNames({ ...value }) : value;
}

function linearPattern(pattern: string, flags: string): { test(text: string): boolean; toString(): string } {
  const written = (): string => `/${pattern}/${flags}`;
  try {
    if (pattern.length > MAX_PATTERN_CHARS) throw new RangeError("too long");
    const linear = RE2JS.compile(RE2JS.translateRegExp(pattern));
    return { test: (text) => linear.matcher(text).find(), toString: written };
  } catch {
    leftOut.push(pattern); // whoever asked says so in the log
    return { test: () => true, toString: written };
  }
}
linearPattern.code = "linearPattern";

// Ready: the time that the thread took to start is not that of a check.
reply([]);
