/**
 * The hosts that tools, scripts and commands may reach: all lists of `network.allowed_domains` that hold for a session as one. An
 * address that is not public is reached only when every list names that address (or `localhost`), whatever host name leads there:
 * whoever owns a name on the list decides where it leads.
 */
import { type DomainEntry, domainAllowed, entryCovers, normalHost, parseDomainEntry } from "./allowed-domains.ts";

export interface DomainList {
  /** As written, each on its own: two that give the same `entries` can still differ in what they hold. */
  readonly lists: readonly (readonly string[])[];
  /** What all lists together let pass, in entries as written; empty when nothing may be reached. */
  readonly entries: readonly string[];
  /** Why the host may not be reached, with the list that refuses it; undefined when it may. */
  refusal(host: string): string | undefined;
  /** Whether entries name this very address, public or not. */
  namesAddress(address: string): boolean;
}

const LOOPBACK = new Set(["127.0.0.1", "::1"]);

/** Each list has to allow a host. Throws a TypeError for an entry that `isDomainEntry` refuses. */
export function createDomainList(
  lists: readonly (readonly string[])[],
  /** Where each list is written, for people. */
  places: readonly string[] = [],
): DomainList {
  const parsed = lists.map((list) => list.map(parsedEntry));
  const everywhere = (text: string): boolean => {
    const entry = parsedEntry(text);
    return parsed.every((entries) => entries.some((one) => entryCovers(one, entry)));
  };
  return {
    lists,
    entries: [...new Set(lists.flat())].filter(everywhere),
    refusal(host) {
      const refusing = parsed.findIndex((entries) => !domainAllowed(entries, host));
      if (refusing < 0) return undefined;
      const place = places[refusing];
      const where = place === undefined ? "" : ` (${place}). To allow it, add the host to that list`;
      return `host ${normalHost(host) ?? host} is not in allowed_domains${where}`;
    },
    namesAddress: (address) => parsed.every((entries) => entries.some((entry) => namesAddress(entry, address))),
  };
}

/** What may stand in the list: a name or an address, without scheme, port and path. */
export function isDomainEntry(entry: string): boolean {
  return parseDomainEntry(entry) !== undefined;
}

function parsedEntry(text: string): DomainEntry {
  const entry = parseDomainEntry(text);
  if (entry === undefined) throw new TypeError(`not a host name, an address, *.name or *: ${text}`);
  return entry;
}

function namesAddress(entry: DomainEntry, address: string): boolean {
  if (entry.kind === "address") return entry.host === normalHost(address);
  return entry.kind === "tree" && entry.host === "localhost" && LOOPBACK.has(address);
}
