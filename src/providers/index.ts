/** Model providers: two wire families, vendors as data, and the wrappers that retry, limit and fall back. */
export { type CatalogCache, knownModels, staticModels } from "./catalog.ts";
export { costUsd, priceOf } from "./cost.ts";
export { createProvider, type ModelConfig } from "./create.ts";
export { createHeldKeys } from "./held-keys.ts";
export { createHttpClient, type HttpClient } from "./http.ts";
export { chooseModel, type ModelChoice } from "./model-choice.ts";
export { defaultModel } from "./model-ref.ts";
export type { Price } from "./prices.ts";
export { createLimiters } from "./rate-limit.ts";
export { defaultRetryPolicy } from "./retry.ts";
export { loadScenario, parseScenario } from "./scenario.ts";
export { findVendor, keyVariables, type Vendor, vendors } from "./vendors.ts";
