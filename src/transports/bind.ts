/** Binds the server of a wire to its address: a port, or a Unix socket that only its owner can open. */
import { chmodSync, lstatSync, unlinkSync } from "node:fs";
import { connect, type Server } from "node:net";
import { dirname } from "node:path";
import { errnoOf } from "#base";
import { ReasonError } from "#protocol";
import { makePrivateDirectory } from "#world";
import type { ListenAddress } from "./listen-address.ts";

const SOCKET_MODE = 0o600;
/** Connections that the system keeps until they are taken. */
const BACKLOG = 1024;

/** The address, with the port that was given for port 0. Rejects with UsageInvalid when somebody else listens there. */
export async function bind(server: Server, wanted: ListenAddress): Promise<ListenAddress> {
  if (wanted.kind === "unix") {
    await removeStale(wanted.path);
    makePrivateDirectory(dirname(wanted.path));
    // `listen` makes the socket before it returns, so nobody gets to open it in between.
    const begin = (): void => {
      server.listen({ path: wanted.path, backlog: BACKLOG });
      keepToOwner(wanted.path);
    };
    await listening(server, begin, wanted.path);
    return wanted;
  }
  await listening(server, () => server.listen({ host: wanted.host, port: wanted.port, backlog: BACKLOG }), wanted.host);
  const bound = server.address();
  return { ...wanted, port: typeof bound === "object" && bound !== null ? bound.port : wanted.port };
}

function listening(server: Server, begin: () => void, where: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause) => {
      reject(new ReasonError("UsageInvalid", `cannot listen on ${where}: ${cause.message}`, { cause }));
    });
    server.once("listening", resolve);
    begin();
  });
}

function keepToOwner(path: string): void {
  try {
    chmodSync(path, SOCKET_MODE);
  } catch (error) {
    // There is none: the server is about to tell why.
    if (errnoOf(error) !== "ENOENT") throw error;
  }
}

/** A socket that nobody answers on is what a killed program left behind. One that somebody answers on is theirs. */
async function removeStale(path: string): Promise<void> {
  try {
    if (!lstatSync(path).isSocket()) throw new ReasonError("UsageInvalid", `${path} exists and is not a socket`);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return;
    throw error;
  }
  const isAnswered = await new Promise<boolean>((resolve) => {
    const probe = connect(path, () => {
      probe.destroy();
      resolve(true);
    });
    probe.once("error", () => resolve(false));
  });
  if (isAnswered) throw new ReasonError("UsageInvalid", `another program listens on ${path}`);
  unlinkSync(path);
}
