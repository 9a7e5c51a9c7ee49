/** `harness creds test`: whether the process that holds the keys works, and whether a provider takes a key. */

import { defined } from "#base";
import { type CredentialPort, createProvider, findVendor, loadSettings, type ModelConfig } from "#program";
import { ReasonError } from "#protocol";
import { createSystemRandom } from "#world";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";

const TEST_TIMEOUT_MS = 30_000;
/** The smallest answer that a provider can be asked for. */
const TEST_MAX_TOKENS = 1;

export interface CredsTestFlags {
  readonly config?: string;
  readonly json?: boolean;
}

interface Report {
  readonly ok: boolean;
  readonly helper: string;
  /** Absent when no key came in the environment. */
  readonly environment_wiped?: boolean;
  readonly provider?: string;
  readonly key?: string;
  readonly detail: string;
}

/** Exit code 1 when something does not work. */
export async function credsTestCommand(
  ports: CliPorts,
  provider: string | undefined,
  name: string | undefined,
  flags: CredsTestFlags,
): Promise<ExitCode> {
  const tried = provider === undefined ? await tryHelper(ports) : await tryProvider(ports, provider, name, flags);
  const wiped = ports.concealed();
  const { state, detail } = ports.credentials.status();
  const report: Report = {
    ...tried,
    helper: detail === undefined ? state : `${state}: ${detail}`,
    ...defined({ environment_wiped: wiped }),
  };
  if (flags.json) ports.terminal.out(`${JSON.stringify(report)}\n`);
  else ports.terminal.out(asText(report));
  return report.ok ? 0 : 1;
}

type Tried = Omit<Report, "helper" | "environment_wiped">;

async function tryHelper({ credentials }: CliPorts): Promise<Tried> {
  const problem = await credentials.check();
  return {
    ok: problem === undefined,
    detail: problem ?? "the credential helper, the process that holds the keys, started and answered",
  };
}

/** One request that costs next to nothing: a token of a small model. Lists of models are given to anybody. */
async function tryProvider(
  ports: CliPorts,
  provider: string,
  name: string | undefined,
  flags: CredsTestFlags,
): Promise<Tried> {
  const { env, clock, credentials } = ports;
  const vendor = findVendor(provider);
  if (vendor === undefined) throw new ReasonError("UsageInvalid", `there is no provider '${provider}'`);
  const { settings } = await loadSettings(ports, flags);
  const configured = settings.models.find(({ model }) => model.startsWith(`${provider}:`));
  const model = `${provider}:${vendor.models?.small ?? "any"}`;
  const config: ModelConfig = {
    ...(configured ?? { model }),
    retry: { maxRetries: 0 },
    maxTokens: TEST_MAX_TOKENS,
    ...defined({ credential: name }),
  };
  let key = "none needed";
  const watched: CredentialPort = {
    ...credentials,
    find(wish) {
      const found = credentials.find(wish);
      key = found?.source ?? key;
      return found;
    },
  };
  const made = createProvider(config, { env, credentials: watched, clock, random: createSystemRandom() });
  const signal = AbortSignal.timeout(TEST_TIMEOUT_MS);
  const about = { provider, key };
  const outcome = await made.chat({
    request: {
      model: config.model,
      system: [],
      messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
      tools: [],
    },
    emit: () => undefined,
    signal,
  });
  // Whoever cuts the answer at one token has accepted the key.
  if (outcome.type === "done" || outcome.reason === "OutputTruncated") {
    return { ok: true, ...about, detail: `${provider} accepts the key` };
  }
  return { ok: false, ...about, detail: `${outcome.reason}: ${outcome.message}` };
}

function asText({ ok, provider, key, helper, environment_wiped: wiped, detail }: Report): string {
  const lines = [`${ok ? "✓" : "✗"} ${detail}`];
  if (provider !== undefined) lines.push(`  key:    ${key}`);
  lines.push(`  helper: ${helper}`);
  if (wiped !== undefined) {
    const answer = wiped
      ? "wiped from the environment that the system shows for this process"
      : "still shown by the system (see docs/security.md)";
    lines.push(`  keys of the environment: ${answer}`);
  }
  return `${lines.join("\n")}\n`;
}
