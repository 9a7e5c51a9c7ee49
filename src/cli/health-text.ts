/** How the parts of a program are that can fail while it runs, for people. */

import type { Settings } from "#artifacts";
import { visibleLine } from "#base";
import type { Harness } from "#program";

export type Subsystems = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Of this process; a daemon tells its own. */
export async function healthText(harness: Harness, settings: Settings): Promise<string> {
  const { subsystemsOf } = await import("#daemon");
  const { credential_helper, ...others } = await subsystemsOf(harness, settings);
  return `${subsystemLines({ ...others, credential_helper: { ...credential_helper } }).join("\n")}\n`;
}

/** Those that have a state, with why where there is a reason. */
export function subsystemLines(subsystems: Subsystems): readonly string[] {
  return Object.entries(subsystems).flatMap(([name, { state, detail }]) => {
    if (typeof state !== "string") return [];
    const why = typeof detail === "string" ? `: ${visibleLine(detail)}` : "";
    return [`  ${name}: ${state}${why}`];
  });
}
