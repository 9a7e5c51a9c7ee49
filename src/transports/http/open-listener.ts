/** One listening socket: loopback TCP, a Unix socket that only its owner can open, or TLS for what other machines can reach. */
import { createServer, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { loopbackHosts, type OriginRules, UNIX_HOSTS } from "#auth";
import { ReasonError } from "#protocol";
import { bind } from "../bind.ts";
import { isLoopback, type ListenAddress } from "../listen-address.ts";
import type { Channel } from "./access.ts";
import { lanHosts, type TlsTexts } from "./lan.ts";
import type { HttpLimits } from "./limits.ts";

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
  throw new ReasonError("UsageInvalid", "other machines can reach that address, so it needs a certificate");
}

function hostsOf(address: ListenAddress, tls: TlsTexts | undefined): readonly string[] {
  if (address.kind === "unix") return UNIX_HOSTS;
  const { host, port } = address;
  return tls === undefined || isLoopback(host) ? loopbackHosts(port, host) : lanHosts(tls, host, port);
}
