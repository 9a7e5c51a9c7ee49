/** `provider:name`, the way models are named everywhere. The name is the vendor's and may contain `/` and `:`. */

import { nearestName } from "#base";
import type { CredentialPort } from "#engine";
import { ReasonError } from "#protocol";
import { findVendor, type Vendor, vendors } from "./vendors.ts";

export interface ModelRef {
  readonly vendor: Vendor;
  readonly name: string;
}

/** Throws UnknownModel, which says what was wrong and what would be right. */
export function parseModelRef(text: string): ModelRef {
  const colon = text.indexOf(":");
  const known = vendors.map((vendor) => vendor.name).join(", ");
  if (colon === -1) {
    const detail = `'${text}' is not a model: write provider:name, for example ${example()}. Providers: ${known}.`;
    throw new ReasonError("UnknownModel", detail);
  }
  const provider = text.slice(0, colon);
  const name = text.slice(colon + 1);
  const vendor = findVendor(provider);
  if (vendor === undefined) {
    const nearest = nearestName(
      provider,
      vendors.map((candidate) => candidate.name),
    );
    const hint = nearest === undefined ? "" : ` Did you mean '${nearest}:${name}'?`;
    throw new ReasonError("UnknownModel", `There is no provider '${provider}'.${hint} Providers: ${known}.`);
  }
  if (name.trim() === "") {
    const hint = vendor.models === undefined ? "" : `, for example ${vendor.name}:${vendor.models.default}`;
    throw new ReasonError("UnknownModel", `'${text}' names no model: write provider:name${hint}.`);
  }
  return { vendor, name };
}

/** The default model of the first vendor, in the table's order, for which there is a key; undefined when there is none. */
export function defaultModel(credentials: Pick<CredentialPort, "holds">): string | undefined {
  for (const { name, models, keyVariables, keyIsShared } of vendors) {
    if (models === undefined) continue;
    const variables = keyIsShared === true ? [] : keyVariables;
    if (credentials.holds({ provider: name, variables })) return `${name}:${models.default}`;
  }
  return undefined;
}

function example(): string {
  const vendor = vendors.find((candidate) => candidate.models !== undefined);
  return `${vendor?.name}:${vendor?.models?.default}`;
}
