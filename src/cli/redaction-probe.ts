/** Whether the redactor works here: a made-up token must not pass it. */
import type { Outward } from "./outward.ts";

/** Of the form that a vendor's keys have; in two pieces, so that no scanner takes it for one that was lost. */
const PROBE_SECRET = ["gh", "p_", "9876543210zyxwvutsrqZYXWVUTSRQ987654"].join("");

/** What becomes of the token. Throws when it passes; rejects with RedactionFailed when there is no redactor. */
export async function probeRedaction(outward: Outward): Promise<string> {
  const { text } = await outward.load();
  const shown = text(`token: ${PROBE_SECRET}`);
  if (!shown.includes(PROBE_SECRET)) return shown.slice("token: ".length);
  throw new Error("it does not redact a made-up token; check redaction.disabled_kinds in config.toml");
}
