/** A disk that takes nothing, as the reason that clients know: whatever was being written, it reads the same. */
import { diskTrouble, diskTroubleText } from "#base";
import { ReasonError } from "./reasons.ts";

/** Errors around the one that names the file. */
const MAX_CAUSES = 8;

/**
 * StoreFailed for an error that a full, read-only or failing disk is behind, and for one that is StoreFailed already; undefined for
 * every other one. `path`: what was being written, where the error does not name it.
 * `hasNoRoom`: whether that disk is full.
 */
export function storeFailure(error: unknown, path?: string, hasNoRoom?: () => boolean): ReasonError | undefined {
  if (error instanceof ReasonError && error.reason === "StoreFailed") return error;
  const trouble = diskTrouble(error, hasNoRoom);
  if (trouble === undefined) return undefined;
  const detail = diskTroubleText(trouble, path ?? namedIn(error) ?? "a file of the program");
  return new ReasonError("StoreFailed", detail, { cause: error });
}

function namedIn(error: unknown): string | undefined {
  let current = error;
  for (let depth = 0; depth < MAX_CAUSES && current instanceof Error; depth++) {
    if ("path" in current && typeof current.path === "string") return current.path;
    current = current.cause;
  }
  return undefined;
}
