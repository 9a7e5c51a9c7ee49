/** One listening socket: loopback TCP, a Unix socket that only its owner can open, or TLS for what other machines can reach. */
import { chmodSync, lstatSync, unlinkSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { connect } from "node:net";
import { dirname } from "node:path";
import { loopbackHosts, type OriginRules, UNIX_HOSTS } from "#auth";
import { errnoOf } from "#base";
import { ReasonError } from "#protocol";
import { makePrivateDirectory } from "#world";
import type { Channel } from "./access.ts";
import { lanHosts, type TlsTexts } from "./lan.ts";
import type { HttpLimits } from "./limits.ts";
import { isLoopback, type ListenAddress } from "./listen-address.ts";

const SOCKET_MODE = 0o600;
/** Connections that the system keeps until they are taken. */
const BACKLOG = 1024;

export interface Listener extends OriginRules {
  readonly channel: Channel;
}

export interface OpenedListener {
  readonly server: Server;
  /** With the port that was given, for port 0. */
  readonly address: ListenAddress;
  readonly listener: Listener;
}

export interface ListenerOptions {
  readonly origins: readonly string[];
  readonly limits: HttpLimits;
  /** For addresses that other machines can reach; those of this machine do without. */
  readonly tls: TlsTexts | undefined;
}

/** Rejects with UsageInvalid when somebody else listens there, or others could reach it and there is no certificate. */
export async function openListener(
  wanted: ListenAddress,
  { origins, limits, tls }: ListenerOptions,
): Promise<OpenedListener> {
  const channel = wanted.kind === "unix" ? "unix" : isLoopback(wanted.host) ? "tcp" : "lan";
  const settings = {
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.keepAliveMs,
    connectionsCheckingInterval: Math.min(1000, limits.headersMs),
  };
  const server =
    channel === "lan"
      ? createTlsServer({ ...settings, ...certificateFor(wanted, tls), handshakeTimeout: limits.headersMs })
      : createServer(settings);
  server.maxConnections = limits.connections;
  const address = await bind(server, wanted);
  return { server, address, listener: { channel, hosts: hostsOf(address, tls), origins } };
}

function certificateFor(wanted: ListenAddress, tls: TlsTexts | undefined): TlsTexts {
  if (tls !== undefined && wanted.kind === "tcp") {
    lanHosts(tls, wanted.host, wanted.port);
    return tls;
  }
  throw new ReasonError("UsageInvalid", { detail: "other machines could reach that address: it needs a certificate" });
}

function hostsOf(address: ListenAddress, tls: TlsTexts | undefined): readonly string[] {
  if (address.kind === "unix") return UNIX_HOSTS;
  const { host, port } = address;
  return tls === undefined || isLoopback(host) ? loopbackHosts(port, host) : lanHosts(tls, host, port);
}

async function bind(server: Server, wanted: ListenAddress): Promise<ListenAddress> {
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
      reject(new ReasonError("UsageInvalid", { detail: `cannot listen on ${where}: ${cause.message}` }, { cause }));
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
    if (!lstatSync(path).isSocket()) {
      throw new ReasonError("UsageInvalid", { detail: `${path} is there and is not a socket` });
    }
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
  if (isAnswered) throw new ReasonError("UsageInvalid", { detail: `another program listens on ${path}` });
  unlinkSync(path);
}
