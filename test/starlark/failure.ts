import { StarlarkError } from "#starlark";

/** The error that a script ends with; what is not one of its own is thrown on. */
export function failureOf(run: () => unknown): StarlarkError {
  try {
    run();
  } catch (error) {
    if (error instanceof StarlarkError) return error;
    throw error;
  }
  throw new Error("did not fail");
}
