/** What went wrong between this program and a server, in words; and the bound on what a server may send before its body. */

export const MAX_HEADER_BYTES = 16 * 1024;

const FAILURES: Readonly<Record<string, string>> = {
  ENOTFOUND: "the host name does not exist",
  EAI_AGAIN: "the host name could not be resolved",
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection was cut",
  ETIMEDOUT: "the host did not answer",
  EHOSTUNREACH: "the host cannot be reached",
  ENETUNREACH: "the network cannot be reached",
  HPE_HEADER_OVERFLOW: `the response headers are larger than ${MAX_HEADER_BYTES} bytes`,
};

export function failureText(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : undefined;
  const known = code === undefined ? undefined : FAILURES[code];
  return known ?? (error instanceof Error && error.message !== "" ? error.message : (code ?? String(error)));
}
