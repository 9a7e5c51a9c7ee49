/** The order of test files: those that take longest begin first, so that at the end no core waits for one of them. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const root = resolve(import.meta.dirname, "..");

/** Longest first. Vitest remembers how long files took, but in a fresh clone it knows nothing yet. */
const LONGEST = [
  "test/background-commands.test.ts",
  "src/sandbox/confined-run.test.ts",
  "src/sandbox/command-sandbox.test.ts",
  "test/e2e/attach.test.ts",
  "test/shell-hooks.test.ts",
  "src/sandbox/held-checkout.test.ts",
  "test/mcp.test.ts",
  "test/compaction.test.ts",
  "test/offered-tools.test.ts",
  "test/e2e/daemon-control.test.ts",
  "test/e2e/cli.test.ts",
  "test/e2e/terminal.test.ts",
  "test/worktrees.test.ts",
  "test/sandbox-escapes.test.ts",
  "src/sandbox/steering-links.test.ts",
  "src/sandbox/session-network.test.ts",
  "test/example-projects.test.ts",
  "test/mcp-sampling.test.ts",
  "test/e2e/doctor.test.ts",
  "test/disk.test.ts",
  "src/redaction/look-budget.test.ts",
  "test/e2e/projects.test.ts",
  "test/campaigns/attach.test.ts",
  "test/campaigns/daemon-control.test.ts",
  "test/campaigns/terminal.test.ts",
  "test/campaigns/canaries.test.ts",
  "test/campaigns/conformance.test.ts",
  "test/campaigns/installed.test.ts",
  "test/campaigns/patches.test.ts",
  "test/campaigns/conformance-liars.test.ts",
  "test/campaigns/provider-faults.test.ts",
  "test/campaigns/black-box.test.ts",
  "test/campaigns/compaction-fuzz.test.ts",
  "test/campaigns/rpc.test.ts",
  "test/campaigns/trust.test.ts",
].map((file) => join(root, file));

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const gone = LONGEST.find((file) => !existsSync(file));
    if (gone !== undefined) throw new Error(`test/longest-first.ts names ${gone}, which does not exist`);
    const rank = ({ moduleId }: TestSpecification): number => {
      const index = LONGEST.indexOf(moduleId);
      return index < 0 ? LONGEST.length : index;
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}
