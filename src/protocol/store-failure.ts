/** A disk that takes nothing, as the reason that clients know: whatever was being written, it reads the same. */
import { diskTrouble, diskTroubleText } from "#base";
import { ReasonError } from "./reasons.ts";

/**
 * StoreFailed for an error of a full, read-only or failing disk, and for one that is StoreFailed already; undefined for every other
 * one. `path`: what was being written, where the error does not name it.
 */
export function storeFailure(error: unknown, path?: string): ReasonError | undefined {
  if (error instanceof ReasonError) return error.reason === "StoreFailed" ? error : undefined;
  const trouble = diskTrouble(error, path);
  if (trouble === undefined) return undefined;
  const named = error instanceof Error && "path" in error && typeof error.path === "string" ? error.path : undefined;
  const detail = diskTroubleText(trouble, path ?? named ?? "a file of the program");
  return new ReasonError("StoreFailed", { detail }, { cause: error });
}
