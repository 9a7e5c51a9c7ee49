/** What was thrown, which can be anything, as what callers want to know of it. */

export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** The code that the operating system, Node or SQLite gave it: `ENOENT`. */
export function errnoOf(thrown: unknown): string | undefined {
  return thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" ? thrown.code : undefined;
}

/** What `work` gives; undefined when the file or folder that it looks for is not there. */
export function ifThere<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
