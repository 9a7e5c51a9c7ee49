/** Where the user's `config.toml` is, and what it says. */
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { defaultSettings, type LoadedConfig, parseUserConfig } from "#artifacts";
import { errnoOf, messageOf } from "#base";
import { ReasonError } from "#protocol";
import { harnessPaths } from "#stores/keys";
import type { ProgramPorts } from "./ports.ts";
import { namesProject } from "./project-names.ts";

const CONFIG_MAX_BYTES = 1024 * 1024;

/** A file that was named must be there; the default one need not. What it leaves out is as in `base`. */
export async function loadConfig(
  ports: Pick<ProgramPorts, "env" | "cwd">,
  named: string | undefined,
  base = defaultSettings,
): Promise<LoadedConfig> {
  if (named !== undefined && namesProject(named)) {
    throw new ReasonError("UsageInvalid", `${named} is a project file: name a configuration file (.toml) here`);
  }
  const file = configFile(ports, named);
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    const code = errnoOf(error);
    if (code === "ENOENT" && named === undefined) return { settings: base, warnings: [] };
    const why = messageOf(error);
    throw new ReasonError("ConfigInvalid", `cannot read ${file}: ${why}`);
  }
  if (text.length > CONFIG_MAX_BYTES) {
    throw new ReasonError("ConfigInvalid", `${file} is larger than ${CONFIG_MAX_BYTES} bytes`);
  }
  return parseUserConfig(file, text, base);
}

export function configFile({ env, cwd }: Pick<ProgramPorts, "env" | "cwd">, named: string | undefined): string {
  return named === undefined ? join(harnessPaths(env).configDir, "config.toml") : resolve(cwd, named);
}
