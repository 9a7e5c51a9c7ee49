/** Which models there are and how large they are: the static rows, and the lists that vendors publish, kept for an hour. */
import { createHash } from "node:crypto";
import { type Clock, defined, jsonIn } from "#base";
import type { CredentialRef, ModelInfo } from "#engine";
import { ReasonError } from "#protocol";
import { type PriceOverrides, priceOf } from "./cost.ts";
import { inSeconds } from "./failure.ts";
import type { HttpClient } from "./http.ts";
import { type ModelFacts, modelFacts } from "./model-facts.ts";
import { longestPrefix, type Price } from "./prices.ts";
import type { Vendor } from "./vendors.ts";

export const CATALOG_TTL_MS = 60 * 60 * 1000;
const CATALOG_TIMEOUT_MS = 20_000;
const MAX_CATALOG_BYTES = 16 * 1024 * 1024;
const MAX_CATALOG_MODELS = 10_000;
const MILLION = 1_000_000;

/** Where a vendor lists its models; absent for vendors with static rows only. */
export interface CatalogSource {
  readonly vendor: string;
  readonly url?: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly credential?: CredentialRef;
}

/** Keeps lists between runs of the program. What it has lost is fetched again, so neither method throws. */
export interface CatalogCache {
  read(name: string): string | undefined;
  write(name: string, text: string): void;
}

interface ListedModel {
  readonly name: string;
  readonly contextTokens?: number;
  readonly maxOutputTokens?: number;
  readonly price?: Price;
  /** The list says what the model reads, and images are not among it. */
  readonly textOnly?: boolean;
}

export interface Catalog {
  /** Fetched at most once in an hour; rejects with a ReasonError when it has to be fetched and cannot be. */
  models(signal: AbortSignal): Promise<readonly ModelInfo[]>;
  /** What is known of one model without asking anybody: the last fetched list, else the static row. */
  find(
    name: string,
  ): Omit<ListedModel, "textOnly"> &
    Pick<ModelFacts, "fixedSampling" | "hidesThinking" | "bindsThinking" | "toolsNeedNoEffort">;
  /** By the last fetched list alone. */
  isTextOnly(name: string): boolean;
}

export function createCatalog(
  source: CatalogSource,
  ports: {
    readonly http: HttpClient;
    readonly clock: Clock;
    readonly prices?: PriceOverrides;
    readonly cache?: CatalogCache;
  },
): Catalog {
  const { vendor, url } = source;
  const { clock, cache } = ports;
  const name = `${vendor}-${createHash("sha256").update(String(url)).digest("hex").slice(0, 16)}`;
  let fetched: ReadonlyMap<string, ListedModel> = new Map();
  /** On the monotonic clock. */
  let keptUntilMs = Number.NEGATIVE_INFINITY;

  async function load(from: URL, signal: AbortSignal): Promise<void> {
    const kept = keptList(vendor, cache?.read(name), clock.now());
    if (kept === undefined) {
      const text = await fetchList({ ...source, url: from }, ports.http, signal);
      fetched = parseModels(vendor, text);
      cache?.write(name, `${clock.now()}\n${text}`);
    } else fetched = kept.models;
    keptUntilMs = clock.monotonicMs() + (kept?.leftMs ?? CATALOG_TTL_MS);
  }

  return {
    async models(signal) {
      if (url === undefined) return staticModels(vendor, ports.prices);
      if (clock.monotonicMs() >= keptUntilMs) await load(url, signal);
      return [...fetched.values()].map((model) => describe(vendor, model, ports.prices));
    },
    find(name) {
      const facts = longestPrefix(modelFacts, name, (row) => row.vendor === vendor);
      return { ...facts, name, ...fetched.get(name) };
    },
    isTextOnly: (name) => fetched.get(name)?.textOnly === true,
  };
}

/** What is known of a vendor's models without a key and without a network. */
export function staticModels(vendor: string, prices?: PriceOverrides): ModelInfo[] {
  return modelFacts
    .filter((row) => row.vendor === vendor)
    .map(({ prefix, contextTokens, maxOutputTokens }) => {
      return describe(vendor, { name: prefix, contextTokens, maxOutputTokens }, prices);
    });
}

/** As `staticModels`, with those that the vendor's row and the user's configuration name; each once. */
export function knownModels(vendor: Vendor, configured: readonly string[], prices?: PriceOverrides): ModelInfo[] {
  const own = `${vendor.name}:`;
  const named = [
    ...Object.values(vendor.models ?? {}),
    ...configured.filter((id) => id.startsWith(own)).map((id) => id.slice(own.length)),
  ];
  const models = new Map(staticModels(vendor.name, prices).map((model) => [model.id, model]));
  for (const name of named) {
    const id = `${own}${name}`;
    if (models.has(id)) continue;
    models.set(
      id,
      describe(vendor.name, { ...longestPrefix(modelFacts, name, (row) => row.vendor === vendor.name), name }, prices),
    );
  }
  return [...models.values()];
}

function describe(vendor: string, model: ListedModel, prices?: PriceOverrides): ModelInfo {
  const price = priceOf(vendor, model.name, prices, model.price);
  return {
    id: `${vendor}:${model.name}`,
    ...defined({ contextTokens: model.contextTokens, maxOutputTokens: model.maxOutputTokens }),
    ...(price === undefined ? {} : { priceUsdPerMillion: { input: price.input, output: price.output } }),
  };
}

/** A list that is not older than it may be; one from the future was written under another clock, and is fetched again as a damaged one is. */
function keptList(vendor: string, kept: string | undefined, nowMs: number) {
  const [, at = "", text = ""] = /^(\d+)\n(.*)$/s.exec(kept ?? "") ?? [];
  const ageMs = nowMs - Number(at);
  if (at === "" || ageMs < 0 || ageMs >= CATALOG_TTL_MS) return undefined;
  try {
    return { models: parseModels(vendor, text), leftMs: CATALOG_TTL_MS - ageMs };
  } catch {
    return undefined;
  }
}

async function fetchList(
  source: CatalogSource & { readonly url: URL },
  http: HttpClient,
  signal: AbortSignal,
): Promise<string> {
  let body = "";
  const outcome = await http.send(
    {
      peer: source.vendor,
      url: source.url,
      method: "GET",
      headers: { accept: "application/json", ...source.headers },
      ...defined({ credential: source.credential }),
      signal,
      headersTimeoutMs: CATALOG_TIMEOUT_MS,
      firstTokenTimeoutMs: CATALOG_TIMEOUT_MS,
      chunkTimeoutMs: CATALOG_TIMEOUT_MS,
      maxResponseBytes: MAX_CATALOG_BYTES,
    },
    () => (text) => {
      body += text;
      // Never "flowing": the one limit holds for the whole list, however it drips.
      return "waiting";
    },
  );
  if (outcome.type === "failed" && outcome.reason === "ProviderTimeout") {
    const detail = `no list of models within ${inSeconds(CATALOG_TIMEOUT_MS)}`;
    throw new ReasonError("ProviderTimeout", { provider: source.vendor, detail });
  }
  if (outcome.type === "failed") throw new CatalogError(outcome.reason, outcome.message);
  if (outcome.status >= 400) {
    throw new ReasonError("ProviderUnavailable", {
      provider: source.vendor,
      detail: `its list of models: HTTP ${outcome.status}`,
    });
  }
  return body;
}

/** A failed fetch keeps the reason and the message that the transport gave it. */
class CatalogError extends ReasonError {
  constructor(reason: ReasonError["reason"], message: string) {
    super(reason);
    this.message = message;
  }
}

/** The fields that OpenRouter, GitHub and plain OpenAI-style lists use. */
interface WireModel {
  readonly id?: unknown;
  readonly context_length?: unknown;
  readonly top_provider?: { readonly max_completion_tokens?: unknown } | null;
  readonly limits?: { readonly max_input_tokens?: unknown; readonly max_output_tokens?: unknown } | null;
  readonly pricing?: Readonly<Record<string, unknown>> | null;
  readonly architecture?: { readonly input_modalities?: unknown } | null;
  readonly supported_input_modalities?: unknown;
}

function parseModels(vendor: string, body: string): ReadonlyMap<string, ListedModel> {
  const parsed = jsonIn(body);
  if (parsed === undefined)
    throw new ReasonError("ProviderGarbled", { provider: vendor, detail: "a list of models that is not JSON" });
  const list = Array.isArray(parsed) ? parsed : (parsed as { data?: unknown } | null)?.data;
  if (!Array.isArray(list)) {
    throw new ReasonError("ProviderGarbled", { provider: vendor, detail: "no list of models" });
  }
  const models = new Map<string, ListedModel>();
  // Every field of a WireModel is optional and unknown; what is not an object has none of them.
  for (const wire of list.slice(0, MAX_CATALOG_MODELS) as readonly (WireModel | null)[]) {
    if (typeof wire?.id !== "string") continue;
    const contextTokens = positive(wire.context_length ?? wire.limits?.max_input_tokens);
    const maxOutputTokens = positive(wire.top_provider?.max_completion_tokens ?? wire.limits?.max_output_tokens);
    const price = wirePrice(wire.pricing);
    const reads = wire.architecture?.input_modalities ?? wire.supported_input_modalities;
    const textOnly = Array.isArray(reads) && reads.includes("text") && !reads.includes("image");
    models.set(wire.id, {
      name: wire.id,
      ...defined({ contextTokens, maxOutputTokens, price }),
      ...(textOnly && { textOnly }),
    });
  }
  return models;
}

/** OpenRouter lists USD per token, as text; a negative price means that it depends. */
function wirePrice(pricing: WireModel["pricing"]): Price | undefined {
  const perMillion = (value: unknown): number | undefined => {
    const number = typeof value === "string" || typeof value === "number" ? Number(value) : Number.NaN;
    // Rounded to a millionth of a dollar: the product of two binary fractions would carry noise.
    return number >= 0 ? Math.round(number * MILLION * MILLION) / MILLION : undefined;
  };
  const input = perMillion(pricing?.prompt);
  const output = perMillion(pricing?.completion);
  if (input === undefined || output === undefined) return undefined;
  const cacheRead = perMillion(pricing?.input_cache_read);
  const cacheWrite = perMillion(pricing?.input_cache_write);
  return {
    input,
    output,
    ...defined({ cacheRead, cacheWrite }),
  };
}

function positive(value: unknown): number | undefined {
  return typeof value === "number" && value > 0 ? value : undefined;
}
