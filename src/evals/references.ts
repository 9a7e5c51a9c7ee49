/** Names in a case that stand for something: a misspelled one would make an assertion hold, or fail, for ever. */

import type { Problem } from "#artifacts";
import { defined, nearestName } from "#base";
import { events } from "#protocol/schemas";
import type { LoadedCase } from "./load-suite.ts";

export interface KnownNames {
  /** With the names that people see. */
  readonly tools: readonly string[];
  readonly hooks: readonly string[];
  readonly agents: readonly string[];
  /** A run may register more of all three. */
  readonly isOpen: boolean;
}

/** What a run may register is only warned about. */
export function unknownNames({ evalCase, shown }: LoadedCase, known: KnownNames): readonly Problem[] {
  return evalCase.grade.flatMap(({ assertion, place }): Problem[] => {
    const problem = (what: string, name: string, names: readonly string[], isSure: boolean): Problem[] => {
      if (names.includes(name)) return [];
      const nearest = nearestName(name, names);
      return [
        {
          severity: isSure ? "error" : "warning",
          code: `unknown-${what}`,
          place: { ...place, file: shown },
          message: `There is no ${what} "${name}" here.`,
          ...defined({ nearest }),
        },
      ];
    };
    switch (assertion.type) {
      case "tool_called":
      case "tool_not_called":
        return problem("tool", assertion.tool, known.tools, !known.isOpen);
      case "hook_blocked":
      case "hook_not_blocked":
        return problem("hook", assertion.hook, known.hooks, !known.isOpen);
      case "verified":
        return assertion.agent === undefined ? [] : problem("agent", assertion.agent, known.agents, !known.isOpen);
      case "event_emitted":
        // What a script emits has a dot in its name, and only the script knows it.
        return assertion.event.includes(".") ? [] : problem("event", assertion.event, Object.keys(events), true);
      default:
        return [];
    }
  });
}
