/** `harness models`: what can be named with --model, and which keys are set. */

import { createProvider, findVendor, keyState, loadSettings, type ModelInfo, staticModels, vendors } from "#program";
import { ReasonError } from "#protocol";
import { createSystemRandom } from "#world";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";
import { formatTable } from "./table.ts";

const CATALOG_TIMEOUT_MS = 30_000;

export interface ModelsFlags {
  readonly config?: string;
  readonly json?: boolean;
}

export async function modelsCommand(
  ports: CliPorts,
  provider: string | undefined,
  flags: ModelsFlags,
): Promise<ExitCode> {
  return provider === undefined ? listProviders(ports, flags) : listCatalog(ports, provider, flags);
}

async function listProviders(ports: CliPorts, flags: ModelsFlags): Promise<ExitCode> {
  const { terminal, credentials } = ports;
  const { settings } = await loadSettings(ports, flags);
  const rows = vendors.map(({ name, keyVariables, models }) => ({
    provider: name,
    default_model: models === undefined ? null : `${name}:${models.default}`,
    small: models?.small ?? null,
    large: models?.large ?? null,
    key: keyState(credentials, name, keyVariables),
    variables: keyVariables,
  }));
  if (flags.json) {
    terminal.out(`${JSON.stringify({ configured: settings.models.map(({ model }) => model), providers: rows })}\n`);
    return 0;
  }
  if (settings.models.length > 0) {
    terminal.out(`configured: ${settings.models.map(({ model }) => model).join(" → ")}\n\n`);
  }
  const table = rows.map((row) => [row.provider, row.key, row.default_model ?? "-", row.variables.join(" or ") || "-"]);
  terminal.out(formatTable(["PROVIDER", "KEY", "DEFAULT MODEL", "VARIABLE"], table, terminal.columns));
  terminal.out(
    "\nscripted:<file.yaml> plays a scenario offline. harness models <provider> lists a provider's models.\n",
  );
  return 0;
}

async function listCatalog(ports: CliPorts, name: string, flags: ModelsFlags): Promise<ExitCode> {
  const { terminal, env, clock, credentials } = ports;
  const vendor = findVendor(name);
  if (vendor === undefined) {
    const known = vendors.map((candidate) => candidate.name).join(", ");
    throw new ReasonError("UsageInvalid", `there is no provider '${name}'. Providers: ${known}.`);
  }
  const { settings } = await loadSettings(ports, flags);
  const configured = settings.models.find(({ model }) => model.startsWith(`${name}:`));
  const model = configured ?? { model: `${name}:${vendor.models?.default ?? "any"}` };
  const infos = await fetchModels();
  async function fetchModels(): Promise<readonly ModelInfo[]> {
    if (vendor?.catalogPath === undefined) return staticModels(name, settings.prices);
    if (terminal.interactive) terminal.err(`Asking ${name}…\n`);
    const { prices } = settings;
    const provider = createProvider(model, { env, credentials, clock, random: createSystemRandom(), prices });
    return provider.models(AbortSignal.timeout(CATALOG_TIMEOUT_MS));
  }
  if (flags.json) {
    terminal.out(`${JSON.stringify(infos)}\n`);
    return 0;
  }
  const rows = infos.map(({ id, contextTokens, priceUsdPerMillion: price }) => [
    id,
    contextTokens === undefined ? "-" : String(contextTokens),
    price === undefined ? "-" : `${price.input} / ${price.output}`,
  ]);
  terminal.out(formatTable(["MODEL", "CONTEXT", "USD PER MILLION IN / OUT"], rows, terminal.columns));
  return 0;
}
