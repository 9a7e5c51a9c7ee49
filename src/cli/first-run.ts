/** What somebody without a model can do next, as the interface shows it. It comes when it is known; nothing waits for it. */
import { localModels } from "#program";
import type { CliPorts } from "./cli-ports.ts";

const LISTED_MODELS = 3;

/** The model that plays where nothing is set up. */
export const OFFLINE_MODEL = "scripted:offline";

export async function firstRunText(ports: Pick<CliPorts, "env" | "clock" | "credentials">): Promise<string> {
  const local = (await localModels(ports)).slice(0, LISTED_MODELS);
  const server = local.map((model) => `  /model ${model}   use this model of the local server`);
  return [
    "No model is set up: no key was found, so the offline model answers.",
    ...server,
    "  harness creds add anthropic   store a key, or set ANTHROPIC_API_KEY and start again",
    "  harness demo   an offline tour: watch a bug being fixed",
  ].join("\n");
}
