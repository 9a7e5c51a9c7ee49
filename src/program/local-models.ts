/** The models of an Ollama on this machine, for people who have set up none. */
import type { ProgramPorts } from "./ports.ts";

const PATIENCE_MS = 500;

/** As `provider:name`; none when no server answers soon, which is the usual case. */
export async function localModels({
  env,
  clock,
  credentials,
}: Pick<ProgramPorts, "env" | "clock" | "credentials">): Promise<readonly string[]> {
  const [{ createProvider }, { createSystemRandom }] = await Promise.all([import("#providers"), import("#world")]);
  const provider = createProvider({ model: "ollama:any" }, { env, clock, credentials, random: createSystemRandom() });
  const found = await provider.models(AbortSignal.timeout(PATIENCE_MS)).catch(() => []);
  return found.map(({ id }) => id);
}
