/** What a `modify` of a hook does to a payload: it changes the fields that it names, and the rest stays. Pure. */
import { canonicalHash, isRecord } from "#base";

type Fields = Readonly<Record<string, unknown>>;

/** What can be changed about the payload of one event. */
export interface PayloadChanges {
  /** A `modify` that names none of them is an error. */
  readonly fields: readonly string[];
  /** The payload that later hooks see, made of the merged one: every spelling of a field agrees. Throws for nonsense. */
  readonly settle?: (merged: Fields, before: Fields) => Fields;
}

/** The payload after a `modify`. Throws when the answer cannot be used; what is no dict is replaced as a whole. */
export function changedPayload(before: unknown, answer: unknown, changes?: PayloadChanges): unknown {
  if (!isRecord(before)) return answer;
  if (!isRecord(answer)) throw new Error(`modify: got ${Array.isArray(answer) ? "list" : typeof answer}, want a dict`);
  const merged = { ...before, ...answer };
  if (changes === undefined) return merged;
  const { fields, settle } = changes;
  if (!fields.some((field) => Object.hasOwn(answer, field))) {
    const named = Object.keys(answer).join(", ") || "nothing";
    throw new Error(`modify: it names ${named}, and only ${fields.join(", ")} can be changed here`);
  }
  return settle === undefined ? merged : settle(merged, before);
}

/** The value of a field with two names: whichever was changed counts. Throws when both were, and differ. */
export function eitherName(merged: Fields, before: Fields, names: readonly [string, string]): unknown {
  const changed = names.filter((name) => canonicalHash(merged[name]) !== canonicalHash(before[name]));
  const [first = names[0], second = first] = changed;
  if (canonicalHash(merged[first]) !== canonicalHash(merged[second])) {
    throw new Error(`modify: ${names.join(" and ")} were changed differently`);
  }
  return merged[first];
}
