/**
 * Plugins of the user's `config.toml`: each is one file, and the bytes whose hash is compared are the bytes that are run. What does
 * not match its hash is not loaded, and nothing starts without it: it may have been a guard.
 */
import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import type { PluginPin, Settings } from "#artifacts";
import { type Clock, defined, isRecord, messageOf, withinTime } from "#base";
import type { Plugin } from "#engine";
import { ReasonError } from "#protocol";

const MAX_BYTES = 16 * 1024 * 1024;
const MAX_PLUGINS = 64;
const LOAD_MS = 30_000;

/** How the file of a plugin compares with its pin. Nothing of it has run. */
export interface PluginFact {
  readonly name: string;
  readonly path: string;
  readonly state: "pinned" | "not pinned" | "changed" | "unreadable";
  /** Of the file that is there. */
  readonly sha256?: string;
  /** What is wrong with it and what to do. */
  readonly problem?: string;
}

export async function pluginFacts({ plugins }: Pick<Settings, "plugins">): Promise<readonly PluginFact[]> {
  const looked = Object.entries(plugins).map(async ([name, pin]) => {
    const { bytes: _, problem, ...fact } = await lookAt(name, pin);
    return { name, path: pin.path, ...fact, ...defined({ problem: problem?.message }) };
  });
  return Promise.all(looked);
}

/** In the order in which they are written. Throws PluginNotPinned, PluginSHA256Mismatch or PluginFailed. */
export async function loadPlugins(
  { plugins }: Pick<Settings, "plugins">,
  clock: Pick<Clock, "sleep">,
): Promise<readonly Plugin[]> {
  const pins = Object.entries(plugins);
  if (pins.length > MAX_PLUGINS) {
    throw new ReasonError("ConfigInvalid", `${pins[0]?.[1].place}: more than ${MAX_PLUGINS} plugins`);
  }
  // All are compared before the first one runs.
  const looked = await Promise.all(pins.map(async ([name, pin]) => ({ name, pin, ...(await lookAt(name, pin)) })));
  const loaded: Plugin[] = [];
  for (const { name, pin, bytes, problem } of looked) {
    if (problem !== undefined) throw problem;
    loaded.push(await load(name, pin, bytes, clock));
  }
  return loaded;
}

type Looked = Pick<PluginFact, "state" | "sha256"> &
  (
    | { readonly bytes: Uint8Array; readonly problem?: undefined }
    | { readonly bytes?: undefined; readonly problem: ReasonError }
  );

async function lookAt(name: string, { path, place, sha256: expected }: PluginPin): Promise<Looked> {
  let bytes: Uint8Array;
  try {
    bytes = await readWhole(path);
  } catch (cause) {
    const detail = `cannot read ${path}: ${messageOf(cause)}`;
    return { state: "unreadable", problem: new ReasonError("PluginFailed", { name, detail, place }, { cause }) };
  }
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const values = { name, path, place, actual: sha256 };
  if (expected === undefined)
    return { state: "not pinned", sha256, problem: new ReasonError("PluginNotPinned", values) };
  if (expected === sha256) return { state: "pinned", sha256, bytes };
  return { state: "changed", sha256, problem: new ReasonError("PluginSHA256Mismatch", { ...values, expected }) };
}

async function readWhole(path: string): Promise<Uint8Array> {
  const info = await stat(path);
  if (!info.isFile()) throw new Error("it is not a file");
  const bytes = info.size > MAX_BYTES ? undefined : await readFile(path);
  if (bytes === undefined || bytes.length > MAX_BYTES) throw new Error(`it has more than ${MAX_BYTES} bytes`);
  return bytes;
}

async function load(
  name: string,
  { place }: PluginPin,
  bytes: Uint8Array,
  clock: Pick<Clock, "sleep">,
): Promise<Plugin> {
  // Not by its path: the file can be another one by now. A module without a path can import `node:` modules and nothing beside it.
  const source = `data:text/javascript;base64,${Buffer.from(bytes).toString("base64")}`;
  const late = (): Error => new Error(`it was not loaded within ${LOAD_MS / 1000} s`);
  try {
    const module: unknown = await withinTime(clock, LOAD_MS, () => import(source) as Promise<unknown>, late);
    const plugin = isRecord(module) ? module.plugin : undefined;
    if (!isRecord(plugin) || typeof plugin.register !== "function") {
      throw new Error("it does not export a plugin: export const plugin = { name, register(host) { … } }");
    }
    if (plugin.name !== name) {
      throw new Error(`it calls itself '${String(plugin.name).slice(0, 100)}'; the table is [plugins.${name}]`);
    }
    // Both fields were just looked at.
    return plugin as unknown as Plugin;
  } catch (cause) {
    throw new ReasonError("PluginFailed", { name, detail: shortened(messageOf(cause)), place }, { cause });
  }
}

/** A message of Node may hold the whole source as the name of the module. */
function shortened(message: string): string {
  return message.replaceAll(/data:text\/javascript;base64,[\w+/=]*/g, "the plugin");
}
