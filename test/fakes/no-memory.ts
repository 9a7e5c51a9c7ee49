/** The memories of a session that has none. */
import { EffectError, type MemoryPort } from "#base";

export const noMemory: MemoryPort = { search: none, write: none, forget: none };

async function none(): Promise<never> {
  throw new EffectError("NotFound", "this session has no memories");
}
