/**
 * What a listener needs that other machines can reach: a certificate with its key, and the names that it may be called by. Pure.
 * A name that is not in the certificate is refused, also where the client does not check it.
 */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { hostHeader } from "#auth";
import { messageOf } from "#base";
import { ReasonError } from "#protocol";

export interface TlsTexts {
  /** PEM; the certificate of the server first. */
  readonly cert: string;
  readonly key: string;
}

const WILDCARDS = ["0.0.0.0", "::"];

/** Throws ConfigInvalid for a certificate that cannot be read, does not belong to its key, or names nobody. */
export function lanHosts({ cert, key }: TlsTexts, address: string, port: number): readonly string[] {
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(cert);
    if (!certificate.checkPrivateKey(createPrivateKey(key))) throw new Error("the key belongs to another certificate");
  } catch (cause) {
    throw refused(messageOf(cause), cause);
  }
  const names = new Set([...namesOf(certificate), ...(WILDCARDS.includes(address) ? [] : [address])]);
  if (names.size === 0) throw refused("it names no host; create one with a subjectAltName");
  return [...names].map((name) => hostHeader(name, port));
}

/** Plain names and addresses of the subjectAltName. A wildcard is no name that could be compared. */
function namesOf({ subjectAltName = "" }: X509Certificate): string[] {
  return subjectAltName.split(", ").flatMap((entry) => {
    const [, kind, value = ""] = /^(DNS|IP Address):([\w.:-]+)$/.exec(entry) ?? [];
    if (kind === undefined) return [];
    return [value.includes(":") ? shortAddress(value) : value];
  });
}

/** As clients write it: `0:0:0:0:0:0:0:1` is `::1`. */
function shortAddress(address: string): string {
  return new URL(`http://[${address}]`).hostname.slice(1, -1);
}

function refused(detail: string, cause?: unknown): ReasonError {
  return new ReasonError("ConfigInvalid", `the TLS certificate cannot be used: ${detail}`, { cause });
}
