/** A place for canaries that closes with the test, and what of them is raw in its exits. */
import { onTestFinished } from "vitest";
import { rawIn } from "./canaries.ts";
import { type CanaryPlace, type Exits, openCanaryPlace } from "./canary-session.ts";
import type { Cargo } from "./canary-ways.ts";

export async function placeFor(load: Cargo): Promise<CanaryPlace> {
  const place = await openCanaryPlace(load);
  onTestFinished(() => place.close());
  return place;
}

/** Exits in which something is raw, with what it is. */
export function leaks(place: CanaryPlace, exits: Exits): Record<string, string[]> {
  const found = [...exits].map(([exit, text]) => [exit, rawIn(text, place.canaries).map(({ name }) => name)] as const);
  return Object.fromEntries(found.filter(([, names]) => names.length > 0));
}
