/** Every built-in there is, in the order of the reference, and the names that each kind of script sees. */
import { builtin, hostModule, type Value } from "#starlark";
import { scriptCallOf } from "../script-call.ts";
import { annotate } from "./annotate.ts";
import { assert } from "./assert.ts";
import { async } from "./async.ts";
import { base64 } from "./base64.ts";
import { cache } from "./cache.ts";
import { crypto } from "./crypto.ts";
import { ctx } from "./ctx.ts";
import { allow, block, modify } from "./decisions.ts";
import { type Audience, type FunctionRow, type ModuleRow, type NativeRow, scripts } from "./definition.ts";
import { delegate } from "./delegate.ts";
import { emit, events } from "./emit.ts";
import { env } from "./env.ts";
import { exec } from "./exec.ts";
import { fs } from "./fs.ts";
import { hash } from "./hash.ts";
import { http } from "./http.ts";
import { json } from "./json.ts";
import { log } from "./log.ts";
import { math } from "./math.ts";
import { meta } from "./meta.ts";
import { metrics } from "./metrics.ts";
import { os } from "./os.ts";
import { random } from "./random.ts";
import { re } from "./re.ts";
import { secrets } from "./secrets.ts";
import { set } from "./set.ts";
import { sleep } from "./sleep.ts";
import { string } from "./string.ts";
import { template } from "./template.ts";
import { time } from "./time.ts";
import { url } from "./url.ts";
import { uuid } from "./uuid.ts";
import { validate } from "./validate.ts";

export const modules: readonly ModuleRow[] = [
  time,
  json,
  math,
  os,
  url,
  uuid,
  http,
  re,
  hash,
  base64,
  crypto,
  string,
  template,
  validate,
  set,
  cache,
  metrics,
  fs,
  ctx,
  exec,
  meta,
  async,
  secrets,
  events,
  log,
];

export const functions: readonly FunctionRow[] = [
  env,
  assert,
  allow,
  block,
  modify,
  emit,
  random,
  sleep,
  annotate,
  delegate,
];

/** One line of the reference. */
export interface BuiltinRow {
  /** Empty for a function that stands alone. */
  readonly module: string;
  readonly name: string;
  /** `http.get(url, headers=None, timeout_seconds=None)`. */
  readonly signature: string;
  readonly returns: string;
  readonly meaning: string;
  readonly audience: readonly Audience[];
}

export function builtinTable(): readonly BuiltinRow[] {
  const rowOf = (module: ModuleRow | undefined, row: FunctionRow | NativeRow, name: string): BuiltinRow => ({
    module: module?.name ?? "",
    name: row.name,
    signature: `${name}(${row.shown ?? shownParameters(row.params)})`,
    returns: row.returns,
    meaning: row.meaning,
    audience: row.audience ?? module?.audience ?? scripts,
  });
  return [
    ...modules.flatMap((module) => [
      ...(module.call === undefined ? [] : [rowOf(module, module.call, module.name)]),
      ...module.functions.map((row) => rowOf(module, row, `${module.name}.${row.name}`)),
    ]),
    ...functions.map((row) => rowOf(undefined, row, row.name)),
  ];
}

/** "a, b?=1, c?" as people read it. */
function shownParameters(params: string): string {
  return params
    .split(",")
    .map((part) => part.trim().replace(/\?=/, "=").replace(/\?$/, "=None"))
    .join(", ");
}

/**
 * The names that a kind of script sees. `effects: "refused"` makes functions that reach outside fail instead, and leaves nothing
 * asynchronous: for running examples. Without a registry there is no `meta`.
 */
export function builtinsFor(
  audience: Audience,
  options: { readonly effects: "real" | "refused" },
): Record<string, Value> {
  const names: Record<string, Value> = {};
  for (const module of modules) {
    if (!module.audience.includes(audience)) continue;
    const members: Record<string, Value> = {};
    for (const row of module.functions) {
      if ((row.audience ?? module.audience).includes(audience)) {
        members[row.name] =
          "native" in row ? row.native : functionOf(`${module.name}.${row.name}`, row, options.effects);
      }
    }
    const callable = module.call === undefined ? undefined : functionOf(module.name, module.call, options.effects);
    names[module.name] = hostModule(module.name, members, callable);
  }
  for (const row of functions) {
    if ((row.audience ?? scripts).includes(audience)) names[row.name] = functionOf(row.name, row, options.effects);
  }
  return names;
}

function functionOf(name: string, row: FunctionRow, effects: "real" | "refused") {
  const options = row.raw === undefined ? {} : { raw: row.raw };
  if (row.effect === true && effects === "refused") {
    return builtin(
      name,
      "sync",
      row.params,
      () => {
        throw new NeedsEffect(name);
      },
      options,
    );
  }
  const kind = row.effect === true ? "async" : "sync";
  return builtin(name, kind, row.params, (args, host) => row.run(args, scriptCallOf(host), host), options);
}

/** An example ran into something that reaches outside. */
export class NeedsEffect extends Error {
  override readonly name = "NeedsEffect";
  readonly builtin: string;

  constructor(builtin: string) {
    super(`${builtin} reaches outside, which an example cannot do`);
    this.builtin = builtin;
  }
}

/** What each function makes of a tool that names it; those that are not here leave it read-only. */
export function toolClasses(): ReadonlyMap<string, "sensitive" | "mutating"> {
  const rows = [
    ...modules.flatMap((module) => module.functions.map((row) => [`${module.name}.${row.name}`, row] as const)),
    ...functions.map((row) => [row.name, row] as const),
  ];
  return new Map(
    rows.flatMap(([name, row]) => ("toolClass" in row && row.toolClass !== undefined ? [[name, row.toolClass]] : [])),
  );
}
