/**
 * The hosts that may be reached, as `network.allowed_domains` names them. A plain name means the host and what is below
 * it, `*.name` only what is below it, `*` every host. The port does not matter. An address that is not public is reached
 * only when the list names that address (or `localhost`), whatever host name leads there.
 */

export interface DomainList {
  readonly entries: readonly string[];
  /** `host` as `hostName` gives it. */
  allows(host: string): boolean;
  /** Whether an entry names this very address, public or not. */
  namesAddress(address: string): boolean;
}

const MAX_HOST_CHARS = 253;
const LOOPBACK = new Set(["127.0.0.1", "::1"]);

/** Throws a TypeError for an entry that `isDomainEntry` refuses. */
export function createDomainList(entries: readonly string[]): DomainList {
  const wrong = entries.find((entry) => !isDomainEntry(entry));
  if (wrong !== undefined) throw new TypeError(`not a host name, an address, *.name or *: ${wrong}`);
  const rules = entries.map((entry) => {
    const below = entry.startsWith("*.");
    return { every: entry === "*", below, name: hostName(below ? entry.slice(2) : entry) ?? "" };
  });
  return {
    entries,
    allows: (host) =>
      rules.some(({ every, below, name }) => {
        if (every) return true;
        const isBelow = host.endsWith(`.${name}`) && !isAddress(name);
        return below ? isBelow : host === name || isBelow;
      }),
    namesAddress: (address) =>
      rules.some(({ every, below, name }) => {
        if (every || below) return false;
        return name === hostName(address) || (name === "localhost" && LOOPBACK.has(address));
      }),
  };
}

/** What may stand in the list: a name or an address, without scheme, port and path. */
export function isDomainEntry(entry: string): boolean {
  if (entry === "*") return true;
  const name = entry.startsWith("*.") ? entry.slice(2) : entry;
  return !name.includes("*") && hostName(name) !== undefined && !(name !== entry && isAddress(name));
}

/**
 * The one spelling of a host: lower case, without brackets and final dot, an IPv4 address in four decimal numbers
 * however it was written. Undefined for what is no host.
 */
export function hostName(text: string): string | undefined {
  const bare = text.replace(/^\[(.*)\]$/, "$1");
  if (bare === "" || bare.length > MAX_HOST_CHARS || !/^[\p{L}\p{N}._:-]+$/u.test(bare)) return undefined;
  const isV6 = bare.includes(":");
  if (isV6 && !/^[0-9a-fA-F:.]+$/.test(bare)) return undefined;
  const url = URL.parse(isV6 ? `http://[${bare}]/` : `http://${bare}/`);
  if (url === null || url.port !== "") return undefined;
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
  return host === "" || host.includes("..") ? undefined : host;
}

function isAddress(host: string): boolean {
  return host.includes(":") || /^\d+(?:\.\d+){3}$/.test(host);
}
