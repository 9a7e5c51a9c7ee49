/** With which reason an effect was refused, for tests that compare nothing else. */
import { EffectError, type EffectReason } from "#base";

export async function reasonOf(work: Promise<unknown>): Promise<EffectReason | "no error"> {
  try {
    await work;
    return "no error";
  } catch (error) {
    if (error instanceof EffectError) return error.reason;
    throw error;
  }
}
