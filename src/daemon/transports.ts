/**
 * Every wire that a daemon can listen on as one row: how its server starts. An address names its wire in front of a plus sign
 * (`NAME+unix:PATH`); without a name it is HTTP. Plugins bring further rows. JSON-RPC is not among them: it has one client, on the
 * streams of `harness rpc`.
 */
import { defined, messageOf } from "#base";
import type { TransportServer } from "#engine";
import type { AddedTransport } from "#program";
import { ReasonError } from "#protocol";
import { addressText, isLoopback, type ListenAddress, parseListenAddress, startHttpServer } from "#transports/http";
import { type Served, serveEngine } from "./served-engine.ts";

/** Listens when it resolves; rejects with UsageInvalid for an address that the wire cannot have. */
type StartTransport = (served: Served, listen: readonly ListenAddress[]) => Promise<TransportServer>;

const transports = {
  http: ({ access, ...served }, listen) => {
    const { authenticate, phaseOf, desk, tls } = access;
    return startHttpServer({ ...served, authenticate, phaseOf, desk, ...defined({ tls }), listen });
  },
} satisfies Record<string, StartTransport>;

export type DaemonAddress = ListenAddress & { readonly wire: string };

/** Whether there is such a wire is known when plugins are loaded: `checkWires`. Throws UsageInvalid. */
export function parseDaemonAddress(text: string): DaemonAddress {
  const [, wire = "http", address = text] = /^([a-z]+)\+(.*)$/.exec(text) ?? [];
  const parsed = parseListenAddress(address);
  if (!Object.hasOwn(transports, wire) && parsed.kind === "tcp" && !isLoopback(parsed.host)) {
    const detail = `${text}: a plugin's wire listens only on this machine: NAME+unix:PATH or NAME+127.0.0.1:PORT`;
    throw new ReasonError("UsageInvalid", detail);
  }
  return { ...parsed, wire };
}

/** Throws UsageInvalid for an address whose wire neither the program nor a plugin has. */
export function checkWires(listen: readonly DaemonAddress[], ofPlugins: ReadonlyMap<string, unknown>): void {
  const known = [...Object.keys(transports), ...ofPlugins.keys()];
  const unknown = listen.find(({ wire }) => !known.includes(wire));
  if (unknown === undefined) return;
  const detail = `${daemonAddressText(unknown)}: there is no wire '${unknown.wire}'; available: ${known.join(", ")}`;
  throw new ReasonError("UsageInvalid", detail);
}

export function daemonAddressText(address: DaemonAddress): string {
  return `${address.wire === "http" ? "" : `${address.wire}+`}${addressText(address)}`;
}

export interface RunningTransports extends TransportServer {
  readonly addresses: readonly DaemonAddress[];
}

/** Starts those that have an address. When one cannot start, none runs. */
export async function startTransports(
  served: Served,
  listen: readonly DaemonAddress[],
  ofPlugins: ReadonlyMap<string, AddedTransport> = new Map(),
): Promise<RunningTransports> {
  checkWires(listen, ofPlugins);
  const running: { readonly wire: string; readonly server: TransportServer }[] = [];
  const close = async (): Promise<void> => void (await Promise.all(running.map(({ server }) => server.close())));
  const added = [...ofPlugins].map(([wire, one]) => [wire, startOf(one)] as const);
  try {
    for (const [wire, start] of [...Object.entries<StartTransport>(transports), ...added]) {
      const own = listen.filter((address) => address.wire === wire);
      if (own.length > 0) running.push({ wire, server: await start(served, own) });
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

/** The connections of a wire of a plugin end with it, whatever its own `close` does. */
function startOf({ plugin, transport }: AddedTransport): StartTransport {
  return async (served, listen) => {
    const { engine, close } = serveEngine(served);
    try {
      const server = await transport.start(engine, listen);
      return {
        addresses: server.addresses,
        stopAccepting: () => server.stopAccepting(),
        async close() {
          close();
          await server.close();
        },
      };
    } catch (cause) {
      close();
      const detail = `its wire '${transport.name}' did not start: ${messageOf(cause)}`;
      throw new ReasonError("PluginFailed", { name: plugin, detail, place: `plugin ${plugin}` }, { cause });
    }
  };
}
