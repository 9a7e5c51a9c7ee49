/**
 * What a server has to do, one row for each requirement: in one sentence, where it is specified, and the wires that it holds for.
 * Scenarios cite rows by their id; the tests fail for a row that no scenario checks on one of its wires.
 */
import { drivingRequirements } from "./requirements/driving.ts";
import type { Requirement } from "./requirements/row.ts";
import { servingRequirements } from "./requirements/serving.ts";
import { streamingRequirements } from "./requirements/streaming.ts";

export { documents } from "./requirements/row.ts";

export const requirements = {
  ...drivingRequirements,
  ...streamingRequirements,
  ...servingRequirements,
} as const satisfies Readonly<Record<string, Requirement>>;

export type RequirementId = keyof typeof requirements;

export function isRequirement(id: string): id is RequirementId {
  return Object.hasOwn(requirements, id);
}
