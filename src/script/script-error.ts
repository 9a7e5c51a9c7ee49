/** Failures of scripts as people read them: what went wrong, and where in the file. */
import { formatPosition, StarlarkError } from "#starlark";

const MAX_FRAMES = 5;

/** The message, then one line for each place on the way, innermost first. */
export function scriptFailure(error: StarlarkError): string {
  const places = error.frames.flatMap(({ name, position }) =>
    position === null ? [] : [`  at ${formatPosition(position)} in ${name}`],
  );
  return [failureMessage(error), ...places.reverse().slice(0, MAX_FRAMES)].join("\n");
}

/** What went wrong, with the built-in that said so. */
export function failureMessage(error: StarlarkError): string {
  const last = error.frames.at(-1);
  const who = last !== undefined && last.position === null && !error.message.startsWith(`${last.name}:`);
  return who ? `${last.name}: ${error.message}` : error.message;
}

/** An error that says where, for whoever only reads the message. */
export function placedError(error: unknown, source: string): Error {
  if (!(error instanceof StarlarkError)) return error instanceof Error ? error : new Error(String(error));
  const place = error.frames.findLast(({ position }) => position !== null)?.position;
  const where = place === undefined || place === null ? source : formatPosition(place);
  return new Error(`${where}: ${failureMessage(error)}`, { cause: error });
}
