/** JSON with one spelling for each value: keys sorted, no white space. What hashes are made of. */

/** Like JSON.stringify, with the keys of every object sorted by code unit. Undefined fields are left out. */
export function canonicalJson(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  return JSON.stringify(value, (_key, field: unknown) => {
    if (typeof field !== "object" || field === null || Array.isArray(field)) return field;
    return Object.fromEntries(Object.entries(field).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

/** Hex SHA-256 of the canonical JSON; undefined counts as null. */
export function canonicalHash(value: unknown): string {
  // Asked for when it is needed: whoever wants only the text may be a page in a browser.
  return process.getBuiltinModule("node:crypto").hash("sha256", canonicalJson(value ?? null), "hex");
}
