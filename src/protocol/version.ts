/** The version that both sides of a wire compare. Free of zod, so that a client can name it. */

export const PROTOCOL_VERSION = "0.1.0";

/**
 * Whether a server of the one version understands a client of the other. Minor versions only add; before 1.0 that still holds,
 * and a client that is newer than the server may rely on what is not there.
 */
export function understands(serverVersion: string, clientVersion: string): boolean {
  const server = /^(\d+)\.(\d+)\./.exec(serverVersion);
  const client = /^(\d+)\.(\d+)\.\d+$/.exec(clientVersion);
  if (server === null || client === null) return false;
  return client[1] === server[1] && Number(client[2]) <= Number(server[2]);
}
