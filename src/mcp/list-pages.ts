/** Lists of a server, page by page: read entry by entry, since the SDK would refuse a whole list for one entry that is not as it should be. */
import type { Client, StandardSchemaV1 } from "@modelcontextprotocol/client";
import { isRecord } from "#base";

/** The SDK's own timers must not come first: the clock of the program decides. */
export const SDK_TIMEOUT_MS = 2 ** 31 - 1;
const MAX_PAGES = 1_000;

/** `add` says whether further entries are wanted. Rejects when the list has no end, or is not one. */
export async function readPages(
  client: Client,
  { method, field }: { readonly method: string; readonly field: string },
  add: (page: readonly unknown[]) => boolean,
  signal: AbortSignal,
): Promise<void> {
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const request = { method, params: cursor === undefined ? {} : { cursor } };
    const result = await client.request(request, anyPage, { signal, timeout: SDK_TIMEOUT_MS });
    const { [field]: entries, nextCursor } = result;
    if (!Array.isArray(entries)) throw new Error(`its list of ${field} is not a list`);
    if (!add(entries) || typeof nextCursor !== "string" || nextCursor === cursor) return;
    cursor = nextCursor;
  }
  throw new Error(`its list of ${field} has more than ${MAX_PAGES} pages`);
}

const anyPage: StandardSchemaV1<unknown, Readonly<Record<string, unknown>>> = {
  "~standard": {
    version: 1,
    vendor: "harness",
    validate: (value) => (isRecord(value) ? { value } : { issues: [{ message: "not an object" }] }),
  },
};
