/** Keys that this terminal has and the daemon, which was started before, has not: it would answer as if there were none. */

import { isRecord } from "#base";
import { askDaemon } from "#daemon";
import { vendors } from "#program";
import type { CliPorts } from "./cli-ports.ts";

/** Names of providers. None where the daemon does not tell: this is advice, and no reason to fail. */
export async function keysOnlyHere(
  { credentials }: Pick<CliPorts, "credentials">,
  daemon: { readonly address: string; readonly tokenFile: string },
): Promise<readonly string[]> {
  const held = vendors.filter(({ name, keyVariables }) =>
    credentials.holds({ provider: name, variables: keyVariables }),
  );
  if (held.length === 0) return [];
  const told = await askDaemon(daemon.address.replace(/^unix:/, ""), daemon.tokenFile, "/v1/providers");
  const providers = isRecord(told) && Array.isArray(told.providers) ? told.providers.filter(isRecord) : [];
  const without = providers.filter(({ key }) => key === "not set").map(({ provider }) => provider);
  return held.map(({ name }) => name).filter((name) => without.includes(name));
}
