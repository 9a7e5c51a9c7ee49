/** From a host name to the addresses that may be connected to: resolved once, every one of them checked. */
import type { LookupFunction } from "node:net";
import { EffectError } from "#base";
import { isPublicAddress } from "./public-address.ts";

const MAX_ADDRESSES = 64;

export interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

export type Resolve = (hostname: string) => Promise<readonly ResolvedAddress[]>;

export interface AddressRules {
  /** All addresses of a host name; the system's resolver by default. */
  readonly resolve?: Resolve;
  /** Whether this address, which is not public, may be connected to all the same. Default: never. */
  readonly mayBePrivate?: (address: string) => boolean | Promise<boolean>;
}

/**
 * All addresses of `host`, a name or an address without brackets; odd spellings must be undone before. One that may not
 * be connected to refuses the host (`AddressRefused`).
 */
export async function checkedAddresses(
  host: string,
  { resolve = resolveHost, mayBePrivate = () => false }: AddressRules,
  stop: AbortSignal,
): Promise<readonly ResolvedAddress[]> {
  const family = process.getBuiltinModule("node:net").isIP(host);
  const addresses =
    family === 0
      ? await abortable(resolve(host), stop)
      : [{ address: host, family: family === 4 ? (4 as const) : (6 as const) }];
  if (addresses.length === 0) throw new EffectError("NetworkFailed", `${host} has no address`);
  if (addresses.length > MAX_ADDRESSES) {
    throw new EffectError("AddressRefused", `${host} has more than ${MAX_ADDRESSES} addresses`);
  }
  for (const { address } of addresses) {
    if ((await isPublicAddress(address)) || (await mayBePrivate(address))) continue;
    throw new EffectError("AddressRefused", `${host} is at ${address}, which is not a public internet address`);
  }
  return addresses;
}

/** Answers with the checked addresses, whatever is asked. Not called for an IP literal, which was checked as it is. */
export function pinnedLookup(addresses: readonly ResolvedAddress[]): LookupFunction {
  return (_hostname, options, callback) => {
    const first = addresses[0];
    if (options.all) callback(null, [...addresses]);
    else if (first) callback(null, first.address, first.family);
  };
}

async function resolveHost(hostname: string): Promise<readonly ResolvedAddress[]> {
  const found = await process.getBuiltinModule("node:dns").promises.lookup(hostname, { all: true });
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
}

function abortable<Value>(work: Promise<Value>, stop: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(stop.reason);
    stop.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => stop.removeEventListener("abort", abort));
  });
}
