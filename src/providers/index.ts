/** Model providers: two wire families, vendors as data, and the wrappers that retry, limit and fall back. */
export { staticModels } from "./catalog.ts";
export { costUsd, type PriceOverrides, priceOf } from "./cost.ts";
export { createProvider, type ModelConfig, type ProviderPorts } from "./create.ts";
export { type FallbackModel, withFallback } from "./fallback.ts";
export { createHeldKeys } from "./held-keys.ts";
export { createHttpClient, type HttpClient } from "./http.ts";
export { chooseModel, type ModelChoice } from "./model-choice.ts";
export { defaultModel, type ModelRef, parseModelRef } from "./model-ref.ts";
export type { Price } from "./prices.ts";
export { createLimiters, type LimiterFor, type RateLimits } from "./rate-limit.ts";
export { defaultRetryPolicy, type RetryPolicy, withRetry } from "./retry.ts";
export { createModelRouter, type ModelRouter, type RouterConfig } from "./router.ts";
export { loadScenario, parseScenario } from "./scenario.ts";
export { estimateTokens } from "./tokens.ts";
export { findVendor, keyVariables, type Vendor, vendors } from "./vendors.ts";
