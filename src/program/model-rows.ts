/** The models that people can choose from: those of the vendors whose key is there, with their prices. */
import type { Settings } from "#artifacts";
import { defined } from "#base";
import type { CredentialPort } from "#engine";
import { knownModels, vendors } from "#providers";
import type { SessionDependencies } from "#session";
import { keyState } from "./key-state.ts";

export function modelRows(
  { models, prices }: Pick<Settings, "models" | "prices">,
  credentials: CredentialPort,
): ReturnType<SessionDependencies["modelRows"]> {
  const configured = models.map(({ model }) => model);
  return vendors
    .filter((vendor) => keyState(credentials, vendor.name, vendor.keyVariables) !== "not set")
    .flatMap((vendor) => knownModels(vendor, configured, prices))
    .map(({ id, contextTokens, priceUsdPerMillion }) => ({
      model: id,
      ...defined({ context_tokens: contextTokens }),
      ...(priceUsdPerMillion !== undefined && {
        usd_per_million: { input: priceUsdPerMillion.input, output: priceUsdPerMillion.output },
      }),
    }));
}
