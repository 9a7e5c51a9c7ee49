/** Tells public internet addresses from all others. What it does not know to be public is not. */
import type { IPv4, IPv6 } from "ipaddr.js";

/** Public by number, yet the metadata service of a cloud: Azure's wire server. */
const METADATA_ADDRESSES = new Set(["168.63.129.16"]);

/** `address` as a resolver or a parsed URL gives it, without brackets. Loads the address library on first use. */
export async function isPublicAddress(address: string): Promise<boolean> {
  const { default: ipaddr } = await import("ipaddr.js");
  if (address.includes("%") || !ipaddr.isValid(address)) return false;
  const parsed: IPv4 | IPv6 = ipaddr.process(address);
  if (parsed.range() !== "unicast" || METADATA_ADDRESSES.has(parsed.toString())) return false;
  // The library calls unassigned space unicast, among it the old IPv4-compatible form (::7f00:1 is loopback to some).
  return parsed.kind() === "ipv4" || parsed.match(ipaddr.IPv6.parse("2000::"), 3);
}
