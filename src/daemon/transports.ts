/**
 * Every wire that a daemon can listen on as one row: how its server starts. An address names its wire in front of a plus sign
 * (`NAME+unix:PATH`); without a name it is HTTP. JSON-RPC is not among them: it has one client, on the streams of `harness rpc`.
 */
import { type Clock, defined } from "#base";
import { ReasonError } from "#protocol";
import {
  addressText,
  type HttpBackend,
  type HttpServer,
  type ListenAddress,
  parseListenAddress,
  startHttpServer,
} from "#transports/http";
import type { DaemonAccess } from "./access.ts";
import type { DaemonObserver } from "./observer.ts";

/** What a daemon puts every wire on. */
export interface Served {
  readonly backend: HttpBackend;
  readonly access: DaemonAccess;
  readonly clock: Clock;
  readonly observer: DaemonObserver;
  /** Origins of pages that may use the server. */
  readonly allowedOrigins: readonly string[];
}

/** Listens when it resolves; rejects with UsageInvalid for an address that the wire cannot have. */
type StartTransport = (served: Served, listen: readonly ListenAddress[]) => Promise<HttpServer>;

const transports = {
  http: ({ access, ...served }, listen) => {
    const { authenticate, phaseOf, desk, tls } = access;
    return startHttpServer({ ...served, authenticate, phaseOf, desk, ...defined({ tls }), listen });
  },
} satisfies Record<string, StartTransport>;

type TransportName = keyof typeof transports;
// An object has the keys that its type says, when it is written down like this one.
const transportNames = Object.keys(transports) as readonly TransportName[];

export type DaemonAddress = ListenAddress & { readonly wire: TransportName };

/** Throws UsageInvalid. */
export function parseDaemonAddress(text: string): DaemonAddress {
  const [, name = "http", address = text] = /^([a-z]+)\+(.*)$/.exec(text) ?? [];
  const wire = transportNames.find((known) => known === name);
  if (wire !== undefined) return { ...parseListenAddress(address), wire };
  throw new ReasonError("UsageInvalid", {
    detail: `${text}: there is no wire '${name}'; available: ${transportNames.join(", ")}`,
  });
}

export function daemonAddressText(address: DaemonAddress): string {
  return `${address.wire === "http" ? "" : `${address.wire}+`}${addressText(address)}`;
}

export interface RunningTransports extends HttpServer {
  readonly addresses: readonly DaemonAddress[];
}

/** Starts those that have an address. When one cannot start, none runs. */
export async function startTransports(served: Served, listen: readonly DaemonAddress[]): Promise<RunningTransports> {
  const running: { readonly wire: TransportName; readonly server: HttpServer }[] = [];
  const close = async (): Promise<void> => void (await Promise.all(running.map(({ server }) => server.close())));
  try {
    for (const wire of transportNames) {
      const own = listen.filter((address) => address.wire === wire);
      if (own.length > 0) running.push({ wire, server: await transports[wire](served, own) });
    }
  } catch (error) {
    await close();
    throw error;
  }
  return {
    addresses: running.flatMap(({ wire, server }) => server.addresses.map((address) => ({ ...address, wire }))),
    stopAccepting() {
      for (const { server } of running) server.stopAccepting();
    },
    close,
  };
}
