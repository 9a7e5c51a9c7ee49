/** The order of test files: those that take longest begin first, so that at the end no core waits for one of them. */
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Their names, longest first. Vitest remembers how long files took; in a fresh clone it knows nothing yet. */
const LONGEST = [
  "attach",
  "daemon-control",
  "cli",
  "projects",
  "rpc",
  "trust",
  "audit",
  "held-checkout",
  "runaway-commands",
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const index = LONGEST.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
      return index < 0 ? LONGEST.length : index;
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}
