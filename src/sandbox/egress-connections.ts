/**
 * The connections that the egress proxy opens for commands: which target may be reached, the record of each connection, and its
 * limits. It resolves a host once, checks every address and connects to a checked one. It does not know how a program asked.
 */
import type { Socket, TcpNetConnectOpts } from "node:net";
import { networkInterfaces } from "node:os";
import { type Clock, type DomainList, EffectError, messageOf } from "#base";
import { checkedAddresses, pinnedLookup, type Resolve, type ResolvedAddress } from "#world";

const CONNECT_TIMEOUT_MS = 15_000;
const IDLE_TIMEOUT_MS = 60_000;
/** No command runs longer; what is still open then belongs to nobody. */
const MAX_CONNECTION_MS = 600_000;
const MAX_CONNECTION_BYTES = 4 * 1024 ** 3;
const LOOPBACK = "127.0.0.1";

/** One connection as the record has it: `opened` or `refused` first, and `closed` after `opened`. */
export interface EgressRecord {
  /** The same for both records of a connection. */
  readonly connection: number;
  readonly host: string;
  readonly port: number;
  readonly state: "opened" | "refused" | "closed";
  /** Why it was refused or cut. */
  readonly why?: string;
  readonly bytesSent?: number;
  readonly bytesReceived?: number;
  readonly durationMs?: number;
}

export interface EgressRules {
  /** Undefined: every public host. */
  readonly domains: DomainList | undefined;
  readonly clock: Clock;
  /** Awaited before a connection is opened: what cannot be recorded does not happen. */
  readonly record: (entry: EgressRecord) => Promise<void>;
  readonly resolve?: Resolve;
  /** Default: `connect` of node:net. */
  readonly connect?: (options: TcpNetConnectOpts) => Socket;
  /** Default: those of the machine's network interfaces. */
  readonly ownAddresses?: () => readonly string[];
}

export interface Target {
  /** In its normal spelling. */
  readonly host: string;
  readonly port: number;
}

export interface EgressConnection {
  readonly socket: Socket;
  /** Call it with every chunk: it ends a connection that has carried too much. */
  count(): void;
  /** Ends it, and records why. */
  cut(why: string): void;
}

export interface EgressConnections {
  /** Both reject with an EffectError after they recorded the refusal. */
  toHost(target: Target): Promise<EgressConnection>;
  /** To this port of the machine's own loopback; whether that is allowed, the caller has decided. */
  toMachine(port: number): Promise<EgressConnection>;
  closeAll(): void;
}

export function createEgressConnections(rules: EgressRules): EgressConnections {
  const { clock, record } = rules;
  const open = new Set<Socket>();
  let connections = 0;

  async function openTo(
    target: Target,
    addressesOf: (stop: AbortSignal) => Promise<readonly ResolvedAddress[]>,
    idleMs: number,
  ): Promise<EgressConnection> {
    const connection = ++connections;
    const startedMs = clock.monotonicMs();
    const entry = { connection, host: target.host, port: target.port };
    try {
      const addresses = await addressesOf(AbortSignal.timeout(CONNECT_TIMEOUT_MS));
      await record({ ...entry, state: "opened" });
      const socket = await dial(target, addresses, rules.connect);
      return bounded(socket, idleMs, (why) => {
        const sizes = { bytesSent: socket.bytesWritten, bytesReceived: socket.bytesRead };
        const durationMs = Math.round(clock.monotonicMs() - startedMs);
        // The connection is over; a log that fails now stops the turn by itself.
        record({ ...entry, state: "closed", ...sizes, durationMs, ...(why && { why }) }).catch(() => undefined);
      });
    } catch (error) {
      const why = messageOf(error);
      await record({ ...entry, state: "refused", why });
      throw error instanceof EffectError ? error : new EffectError("NetworkFailed", why, { cause: error });
    }
  }

  /** Ends the connection when it is idle, old or large. */
  function bounded(socket: Socket, idleMs: number, onClose: (why?: string) => void): EgressConnection {
    let why: string | undefined;
    const cut = (reason: string) => {
      why ??= reason;
      socket.destroy();
    };
    const limit = setTimeout(() => cut("it was open for too long"), MAX_CONNECTION_MS).unref();
    socket.setTimeout(idleMs, () => cut("it received no data for too long"));
    open.add(socket);
    socket.once("close", () => {
      open.delete(socket);
      clearTimeout(limit);
      onClose(why);
    });
    const count = () => {
      if (socket.bytesRead + socket.bytesWritten > MAX_CONNECTION_BYTES) cut("it carried too many bytes");
    };
    return { socket, count, cut };
  }

  return {
    toHost: (target) => openTo(target, (stop) => allowedAddresses(target.host, rules, stop), IDLE_TIMEOUT_MS),
    // A pool of database connections is idle most of the time.
    toMachine: (port) => openTo({ host: LOOPBACK, port }, async () => [], 0),
    closeAll() {
      for (const socket of open) socket.destroy();
    },
  };
}

/** Carries bytes both ways until one side has ended and the other has got everything. */
export function joinConnection(inside: Socket, { socket: outside, count }: EgressConnection): void {
  // The program may have given up while the connection was being opened.
  if (inside.destroyed) outside.destroy();
  for (const [side, other] of [[inside, outside] as const, [outside, inside] as const]) {
    side.on("data", count);
    side.once("error", () => other.destroy());
    // After an orderly end the last bytes may still be on their way to the other side.
    side.once("close", () => (side.readableEnded ? other.destroySoon() : other.destroy()));
    side.pipe(other);
  }
  outside.once("close", () => inside.setTimeout(IDLE_TIMEOUT_MS, () => inside.destroy()));
}

async function allowedAddresses(
  host: string,
  { domains, resolve, ownAddresses = interfaceAddresses }: EgressRules,
  stop: AbortSignal,
): Promise<readonly ResolvedAddress[]> {
  const refusal = domains?.refusal(host);
  if (refusal !== undefined) throw new EffectError("AddressRefused", refusal);
  const isNamed = (address: string): boolean => domains?.namesAddress(address) === true;
  const addresses = await checkedAddresses(host, { ...(resolve && { resolve }), mayBePrivate: isNamed }, stop);
  const { BlockList } = process.getBuiltinModule("node:net");
  // It also recognises an IPv4 address in its IPv6 spelling.
  const own = new BlockList();
  for (const address of ownAddresses()) own.addAddress(address, familyOf(address));
  for (const { address } of addresses) {
    // A firewall may hide services of the machine from the internet, but not from the machine itself.
    if (own.check(address, familyOf(address)) && !isNamed(address)) {
      throw new EffectError("AddressRefused", `${host} resolves to ${address}, which is an address of this machine`);
    }
  }
  return addresses;
}

function interfaceAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return address.includes(":") ? "ipv6" : "ipv4";
}

function dial(
  { host, port }: Target,
  addresses: readonly ResolvedAddress[],
  connect: EgressRules["connect"] = process.getBuiltinModule("node:net").connect,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const lookup = pinnedLookup(addresses);
    const socket = connect({ host, port, lookup, autoSelectFamily: true, timeout: CONNECT_TIMEOUT_MS });
    socket.once("timeout", () => socket.destroy(new Error(`${host}:${port} did not answer`)));
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.off("error", reject).setTimeout(0).removeAllListeners("timeout");
      socket.on("error", () => socket.destroy());
      resolve(socket);
    });
  });
}
