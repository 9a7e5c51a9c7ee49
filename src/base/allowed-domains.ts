/**
 * Which hosts the entries of `allowed_domains` let pass. Pure: it looks at names only, never at what they resolve to. A bare name
 * is that host and everything below it, `*.name` what is below it only, `*` any host. Ports, paths and case do not count.
 */
/** What DNS allows. */
const MAX_HOST_CHARS = 253;

export type DomainEntry =
  | { readonly kind: "any" }
  | { readonly kind: "tree"; readonly host: string }
  | { readonly kind: "below"; readonly host: string }
  | { readonly kind: "address"; readonly host: string };

/** The entry as written, or undefined when it can match nothing: a URL, a port, a path, an empty label. */
export function parseDomainEntry(text: string): DomainEntry | undefined {
  if (text === "*") return { kind: "any" };
  const below = text.startsWith("*.");
  const host = normalHost(below ? text.slice(2) : text);
  if (host === undefined) return undefined;
  if (isAddress(host)) return below ? undefined : { kind: "address", host };
  return { kind: below ? "below" : "tree", host };
}

/** A host as a URL would spell it: lower case, punycode, canonical IPv4 and IPv6, no brackets, no trailing dot. */
export function normalHost(text: string): string | undefined {
  const bare = text.replace(/^\[(.*)\]$/, "$1");
  if (bare === "" || bare.length > MAX_HOST_CHARS || /[\s/?#@\\%*]/.test(bare)) return undefined;
  const isV6 = bare.includes(":");
  if (isV6 && !/^[0-9a-f:.]+$/i.test(bare)) return undefined;
  const url = URL.parse(isV6 ? `http://[${bare}]/` : `http://${bare}/`);
  if (url === null || url.port !== "" || url.username !== "" || url.pathname !== "/") return undefined;
  const host = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  return host === "" || host.split(".").includes("") ? undefined : host;
}

export function domainAllowed(entries: readonly DomainEntry[], host: string): boolean {
  const name = normalHost(host);
  return name !== undefined && entries.some((entry) => matches(entry, name));
}

function matches(entry: DomainEntry, name: string): boolean {
  switch (entry.kind) {
    case "any":
      return true;
    case "address":
      return entry.host === name;
    case "tree":
      return entry.host === name || isBelow(name, entry.host);
    case "below":
      return isBelow(name, entry.host);
  }
}

/** Whether every host that `inner` lets pass is let pass by `outer` too. Of two entries that share a host, one covers the other. */
export function entryCovers(outer: DomainEntry, inner: DomainEntry): boolean {
  if (outer.kind === "any") return true;
  switch (inner.kind) {
    case "any":
      return false;
    case "below":
      return outer.kind !== "address" && (inner.host === outer.host || isBelow(inner.host, outer.host));
    case "tree":
    case "address":
      return matches(outer, inner.host);
  }
}

function isBelow(name: string, host: string): boolean {
  return !isAddress(name) && name.endsWith(`.${host}`);
}

/** Of a normal host: URL parsing has turned every spelling of an IPv4 address into four numbers. */
function isAddress(host: string): boolean {
  return host.includes(":") || /^\d+\.\d+\.\d+\.\d+$/.test(host);
}
