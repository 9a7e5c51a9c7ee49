/** Whether a value of unknown origin is an object with fields: no list, not null. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether there are lists and objects in it more than `levels` deep. */
export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((field) => isDeeper(field, levels - 1));
}
