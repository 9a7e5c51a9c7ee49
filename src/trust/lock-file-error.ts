/** A lock file is not as this program would have written it. */
export class LockFileError extends Error {
  override readonly name = "LockFileError";
}
