/**
 * A Provider over one vendor's endpoint: one attempt for one call, plus the single repeat of an answer that was cut at
 * its token cap. Waiting, retrying and changing the model are the business of the wrappers around it.
 */
import { type Clock, defined } from "#base";
import type { CredentialRef, ModelCall, ModelOutcome, ModelRequest, Provider } from "#engine";
import type { Usage } from "#protocol";
import { DEFAULT_MAX_TOKENS } from "./anthropic-request.ts";
import type { Catalog } from "./catalog.ts";
import { costUsd, type PriceOverrides, priceOf } from "./cost.ts";
import { failure, type Peer, refused } from "./failure.ts";
import type { HttpClient } from "./http.ts";
import type { Price } from "./prices.ts";
import { type CallLimits, streamCall } from "./stream-call.ts";
import { contextOverflow, estimateTokens } from "./tokens.ts";
import type { Vendor } from "./vendors.ts";
import { addUsage, noUsage, type WireEnd, type WireFamily, type WireOptions, type WireStop } from "./wire-family.ts";
import { createWireNames } from "./wire-names.ts";

/** How far a cap may be doubled for a model whose own maximum is not known. */
const MAX_DOUBLED_TOKENS = 65_536;

type Ended = Extract<WireEnd, { type: "ended" }>;

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

  const attempt = (call: ModelCall, options: WireOptions): Promise<WireEnd> => {
    const reader = family.reader(peer, options.names, call.emit);
    const body = family.body(call.request, options);
    const { url, limits, credential } = endpoint;
    const headers = joinHeaders(endpoint.headers, family.headers(options));
    const keyed = credential === undefined ? {} : { credential };
    const traced = call.trace === undefined ? {} : { trace: call.trace };
    const { signal, budget } = call;
    const timed = budget === undefined ? {} : { onProgress: budget.progressed };
    return streamCall({ peer, url, headers, ...keyed, body, signal, limits, reader, ...traced, ...timed }, ports);
  };

  const chat = async (call: ModelCall): Promise<ModelOutcome> => {
    if (call.signal.aborted) return failure("Cancelled", false);
    const name = modelName(call.request);
    const facts = ports.catalog.find(name);
    const overflow = contextOverflow(call.request, facts.contextTokens);
    if (overflow !== undefined) return overflow;
    const options = wireOptions(endpoint, call.request, name, facts);
    const price = priceOf(vendor.name, name, ports.prices, facts.price);

    const first = await attempt(call, options);
    if (first.type === "failed") return first;
    if (first.stop !== "truncated") return answered(call.request, first.stop, [first], price);

    const larger = doubled(options.maxTokens, facts.maxOutputTokens);
    if (larger === undefined) return truncated(options.maxTokens ?? facts.maxOutputTokens, first.usage);
    const message = `The response hit its limit of ${options.maxTokens} output tokens; asking again with ${larger}.`;
    call.emit({ type: "retrying", reason: "OutputTruncated", message, retryAfterMs: 0 });
    const second = await attempt(call, { ...options, maxTokens: larger });
    if (second.type === "failed") return { ...second, usage: addUsage(first.usage, second.usage) };
    if (second.stop === "truncated") return truncated(larger, addUsage(first.usage, second.usage));
    return answered(call.request, second.stop, [first, second], price);
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
    ...defined({ maxTokens, temperature }),
    ...(facts.toolsNeedNoEffort === true ? { effortWithTools: "none" } : {}),
    ...(vendor.takesCacheKey && request.cacheKey !== undefined ? { cacheKey: request.cacheKey } : {}),
  };
}

/** The larger cap to ask with; undefined when there is none: no cap was sent, or it is the model's maximum already. */
function doubled(maxTokens: number | undefined, modelMaximum: number | undefined): number | undefined {
  if (maxTokens === undefined) return undefined;
  const larger = Math.min(maxTokens * 2, modelMaximum ?? Math.max(maxTokens, MAX_DOUBLED_TOKENS));
  return larger > maxTokens ? larger : undefined;
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

function modelName({ model }: ModelRequest): string {
  return model.slice(model.indexOf(":") + 1);
}

/** The repeat of a cut answer is paid like the answer itself. A cost with one unknown part is unknown. */
function answered(
  { model }: ModelRequest,
  stop: Exclude<WireStop, "truncated">,
  ends: readonly Ended[],
  price: Price | undefined,
): ModelOutcome {
  let usage = noUsage;
  let total: number | undefined = 0;
  for (const end of ends) {
    const cost = end.costUsd ?? (end.usage && costUsd(end.usage, price));
    usage = addUsage(usage, end.usage);
    total = total === undefined || cost === undefined ? undefined : total + cost;
  }
  return { type: "done", model, stop, usage, ...defined({ costUsd: total }) };
}

function truncated(limit: number | undefined, usage: Usage = noUsage): ModelOutcome {
  return { ...failure("OutputTruncated", false, { limit: limit ?? "the model's own number of" }), usage };
}
