/** A Provider over one vendor's endpoint: one attempt for one call. Waiting, retrying and changing the model are for the wrappers. */
import { type Clock, defined } from "#base";
import {
  type CredentialRef,
  estimateTokens,
  type ModelCall,
  type ModelOutcome,
  type ModelRequest,
  type Provider,
} from "#engine";
import { DEFAULT_MAX_TOKENS } from "./anthropic-request.ts";
import type { Catalog } from "./catalog.ts";
import { checkedEmit } from "./checked-events.ts";
import { costUsd, type PriceOverrides, priceOf } from "./cost.ts";
import { failure, type Peer, refused, truncated } from "./failure.ts";
import type { CallLimits, HttpClient } from "./http.ts";
import { createImageSupport, imagesIn, imagesUnsupported, withoutImages } from "./image-support.ts";
import type { Price } from "./prices.ts";
import { streamCall } from "./stream-call.ts";
import { contextOverflow } from "./tokens.ts";
import type { Vendor } from "./vendors.ts";
import { noUsage, type WireEnd, type WireFamily, type WireOptions } from "./wire-family.ts";
import { createWireNames } from "./wire-names.ts";

export interface WireEndpoint {
  readonly vendor: Vendor;
  readonly family: WireFamily;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly credential?: CredentialRef;
  readonly peer: Peer;
  readonly limits: CallLimits;
  readonly maxTokens?: number;
  readonly temperature?: number;
  /** The user knows better than the catalogue. */
  readonly contextTokens?: number;
}

export function createWireProvider(
  endpoint: WireEndpoint,
  ports: {
    readonly http: HttpClient;
    readonly clock: Clock;
    readonly catalog: Catalog;
    readonly prices?: PriceOverrides;
  },
): Provider {
  const { vendor, family, peer } = endpoint;
  const images = createImageSupport(vendor, ports.catalog);

  const attempt = (call: ModelCall, options: WireOptions): Promise<WireEnd> => {
    const reader = family.reader(peer, options.names, checkedEmit(call.emit));
    const body = family.body(call.request, options);
    const { url, limits, credential } = endpoint;
    const headers = joinHeaders(endpoint.headers, family.headers(options));
    const keyed = credential === undefined ? {} : { credential };
    const traced = call.trace === undefined ? {} : { trace: call.trace };
    const { signal, budget } = call;
    const watched = defined({ onProgress: budget?.progressed, onSent: call.onSent });
    return streamCall({ peer, url, headers, ...keyed, body, signal, limits, reader, ...traced, ...watched }, ports);
  };

  const chat = async (given: ModelCall): Promise<ModelOutcome> => {
    if (given.signal.aborted) return failure("Cancelled", false);
    const name = modelName(given.request);
    const found = imagesIn(given.request);
    const isKnown = !images.takes(name);
    const isRead = found === "none" || (await images.find(name, given.signal));
    // Whoever sent the image did not know. From now on inputs with one are refused, and other images are left out.
    if (!isRead && !isKnown && found === "input") return imagesUnsupported(given.request);
    const call = isRead ? given : { ...given, request: withoutImages(given.request) };
    const facts = ports.catalog.find(name);
    const overflow = contextOverflow(call.request, endpoint.contextTokens ?? facts.contextTokens);
    if (overflow !== undefined) return overflow;
    const options = wireOptions(endpoint, call.request, name, facts);
    const known = priceOf(vendor.name, name, ports.prices, facts.price);
    const price = known ?? (call.needsPrice && (await listedPrice(ports.catalog, name, call.signal)));
    if (price === undefined && call.needsPrice) return failure("PriceUnknown", false, { model: call.request.model });

    const end = await attempt(call, options);
    const cost = (end.type === "ended" ? end.costUsd : undefined) ?? (end.usage && costUsd(end.usage, price));
    const paid = defined({ costUsd: cost });
    if (end.type === "failed" && isRead && found !== "none" && images.learn(name, end))
      return found === "input" ? imagesUnsupported(given.request) : chat(given);
    if (end.type === "failed") return { ...end, ...paid };
    if (end.stop === "truncated")
      return { ...truncated(options.maxTokens, facts.maxOutputTokens), usage: end.usage ?? noUsage, ...paid };
    return { type: "done", model: call.request.model, stop: end.stop, usage: end.usage ?? noUsage, ...paid };
  };

  return {
    name: vendor.name,
    async chat(call) {
      try {
        return await chat(call);
      } catch (error) {
        return refused(error);
      }
    },
    models: (signal) => ports.catalog.models(signal),
    countTokens: estimateTokens,
    contextTokens: (model) =>
      endpoint.contextTokens ?? ports.catalog.find(model.slice(model.indexOf(":") + 1)).contextTokens,
    takesImages: (model) => images.takes(model.slice(model.indexOf(":") + 1)),
  };
}

function wireOptions(
  endpoint: WireEndpoint,
  request: ModelRequest,
  model: string,
  facts: ReturnType<Catalog["find"]>,
): WireOptions {
  const { vendor } = endpoint;
  const asked =
    request.maxTokens ?? endpoint.maxTokens ?? (vendor.family === "anthropic" ? DEFAULT_MAX_TOKENS : undefined);
  const maxTokens = asked === undefined ? undefined : Math.min(asked, facts.maxOutputTokens ?? asked);
  const temperature = facts.fixedSampling === true ? undefined : (request.temperature ?? endpoint.temperature);
  return {
    model,
    names: createWireNames(request.tools),
    showThinking: facts.hidesThinking === true,
    dropStaleThinking: facts.bindsThinking === true,
    maxTokensField: vendor.maxTokensField,
    echoReasoning: vendor.echoesReasoning,
    marksCache: vendor.marksCacheFor?.some((prefix) => model.startsWith(prefix)) ?? false,
    ...defined({ maxTokens, temperature }),
    ...(facts.toolsNeedNoEffort === true ? { effortWithTools: "none" } : {}),
    ...(vendor.takesCacheKey && request.cacheKey !== undefined ? { cacheKey: request.cacheKey } : {}),
  };
}

/** A header that both sides have is a list of both values: a configured beta does not switch ours off. */
function joinHeaders(
  first: Readonly<Record<string, string>>,
  second: Readonly<Record<string, string>>,
): Record<string, string> {
  const joined: Record<string, string> = { ...first };
  for (const [name, value] of Object.entries(second)) {
    const same = Object.keys(joined).find((other) => other.toLowerCase() === name);
    if (same === undefined) joined[name] = value;
    else joined[same] = `${joined[same]},${value}`;
  }
  return joined;
}

/** Asks the vendor, where it has a list. */
async function listedPrice(catalog: Catalog, name: string, signal: AbortSignal): Promise<Price | undefined> {
  await catalog.models(signal);
  return catalog.find(name).price;
}

function modelName({ model }: ModelRequest): string {
  return model.slice(model.indexOf(":") + 1);
}
