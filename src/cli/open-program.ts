/** From flags to a running program: configuration, model and store, with the messages a person needs when one is wrong. */
import { readFile } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";
import { defaultSettings, type LoadedConfig, type PermissionRule, parseUserConfig, type Settings } from "#artifacts";
import { assembleHarness, type Harness, type HarnessOptions } from "#harness";
import { ReasonError } from "#protocol";
import { createSigner, harnessPaths, machineKeySource } from "#sessions";
import type { CliPorts } from "./cli-ports.ts";
import type { RunFlags } from "./flags.ts";
import { paint } from "./renderer.ts";
import { undoPlace } from "./undo-key.ts";

const CONFIG_MAX_BYTES = 1024 * 1024;
/** A person at the terminal may take their time; Ctrl-C is always there. */
const TERMINAL_ANSWER_MS = 24 * 60 * 60 * 1000;

export interface OpenOptions {
  readonly flags: RunFlags;
  readonly offlineAllowed: boolean;
}

export interface OpenedProgram {
  readonly harness: Harness;
  readonly settings: Settings;
  readonly workspace: string;
}

export async function openProgram(ports: CliPorts, { flags, offlineAllowed }: OpenOptions): Promise<OpenedProgram> {
  const { terminal, env, clock } = ports;
  const { settings, warnings } = await loadSettings(ports, flags);
  for (const warning of warnings) terminal.err(`${paint(terminal, "yellow", `warning: ${warning}`)}\n`);
  const workspace = resolve(ports.cwd, flags.cwd ?? ".");
  const named = flags.model ?? env.HARNESS_MODEL;
  const harness = await assembleHarness({
    settings,
    env,
    clock,
    workspace,
    offlineAllowed,
    scenarioFile: (name) => scenarioFile(ports, name),
    store: storeOf(flags.store, workspace, env),
    signer: createSigner(() => harnessPaths(env).configDir),
    undo: flags.store === "memory" || flags.undo === "off" ? "off" : undoPlace(ports),
    autoApprove: flags.autoApprove === true,
    permissionTimeoutMs: TERMINAL_ANSWER_MS,
    ...(named === undefined ? {} : { model: named }),
  });
  if (harness.offline) {
    const how = "Set ANTHROPIC_API_KEY, OPENAI_API_KEY or another provider's key, or name a model with --model.";
    terminal.err(
      `${paint(terminal, "yellow", "No model is configured: this is the offline scripted model.")} ${how}\n`,
    );
  }
  return { harness, settings, workspace };
}

function storeOf(kind: RunFlags["store"], workspace: string, env: CliPorts["env"]): HarnessOptions["store"] {
  if (kind === "memory") return { kind };
  if (kind === "jsonl") return { kind, root: workspace };
  return { kind, path: harnessPaths(env).sessionsDb, key: machineKeySource(env) };
}

/** Configuration file, then flags; later wins, deny rules add up. */
export async function loadSettings(
  ports: CliPorts,
  flags: Pick<RunFlags, "config" | "allow" | "deny" | "strictPermissions" | "maxSteps">,
): Promise<LoadedConfig> {
  const { settings, warnings } = await loadConfig(ports, flags.config);
  const fromFlags: readonly PermissionRule[] = [
    ...(flags.allow ?? []).map((rule) => ({ effect: "allow" as const, rule, source: "--allow" })),
    ...(flags.deny ?? []).map((rule) => ({ effect: "deny" as const, rule, source: "--deny" })),
  ];
  return {
    warnings,
    settings: {
      ...settings,
      permissions: [...settings.permissions, ...fromFlags],
      strictPermissions: flags.strictPermissions ?? settings.strictPermissions,
      maxSteps: flags.maxSteps ?? settings.maxSteps,
    },
  };
}

/** A file that was named must be there; the default one need not. */
async function loadConfig(ports: CliPorts, named: string | undefined): Promise<LoadedConfig> {
  const file = named === undefined ? join(harnessPaths(ports.env).configDir, "config.toml") : resolve(ports.cwd, named);
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT" && named === undefined) return { settings: defaultSettings, warnings: [] };
    const why = error instanceof Error ? error.message : String(error);
    throw new ReasonError("ConfigInvalid", { detail: `cannot read ${file}: ${why}` });
  }
  if (text.length > CONFIG_MAX_BYTES) {
    throw new ReasonError("ConfigInvalid", { detail: `${file} is larger than ${CONFIG_MAX_BYTES} bytes` });
  }
  return parseUserConfig(file, text);
}

/** A plain word is a scenario that ships with the program, anything else a path. */
function scenarioFile({ scenariosDir, cwd }: CliPorts, name: string): string {
  if (/^[a-z0-9-]+$/.test(name)) return join(scenariosDir, `${name}.yaml`);
  return isAbsolute(name) ? name : join(cwd, name);
}
