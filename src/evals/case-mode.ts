/** Where the answers of the model come from in a case. Decided before anything runs, so that nothing is spent by surprise. */

/** `scripted`: a scenario plays. `replay`: the cassette beside the case does. `live`: a model is asked; `record`: and written down. */
export type CaseMode = "scripted" | "replay" | "live" | "record";

export interface ModeFacts {
  /** What the flags ask for. */
  readonly wanted?: "live" | "record" | "replay";
  /** The case brings a scenario, or names a scripted model. */
  readonly isScripted: boolean;
  readonly isCi: boolean;
  readonly hasCassette: boolean;
  /** Asked only where it matters: to find a key may begin to start whoever holds it. */
  readonly hasKey: () => Promise<boolean>;
}

export type ModeChoice = { readonly mode: CaseMode } | { readonly notRun: string };

/** In CI, and where there is no key, a cassette stands for the model: no cost, the same result every time. */
export async function chooseMode(facts: ModeFacts): Promise<ModeChoice> {
  const { wanted, isScripted, isCi, hasCassette, hasKey } = facts;
  switch (wanted) {
    case "replay":
      return hasCassette ? { mode: "replay" } : { notRun: `the case has no cassette; ${HOW_TO_RECORD}` };
    case "record":
      if (isScripted || (await hasKey())) return { mode: "record" };
      return { notRun: "Harness cannot record it: no key is set for its model" };
    case "live":
      if (isScripted) return { mode: "scripted" };
      return (await hasKey()) ? { mode: "live" } : { notRun: "no key is set for its model" };
    default:
      break;
  }
  if (isScripted) return { mode: "scripted" };
  if (isCi && hasCassette) return { mode: "replay" };
  const isAvailable = await hasKey();
  if (isAvailable && !isCi) return { mode: "live" };
  if (hasCassette) return { mode: "replay" };
  const why = isAvailable
    ? "the case has no cassette, and in CI Harness calls no model without --live"
    : "the case has no cassette and no scenario, and no key is set for its model";
  return { notRun: `${why}; ${HOW_TO_RECORD}` };
}

const HOW_TO_RECORD = "record one with --record on a machine that has the key";
