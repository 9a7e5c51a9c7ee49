import { dirname } from "node:path";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./test/longest-first.ts";

/** Tests wait for processes and disks as often as they compute, so there are more of them at a time than cores. */
const AT_ONCE = 4;
const PATIENCE_MS = 240_000;
const POLL_PATIENCE_MS = 60_000;

/**
 * `npm test` runs the first two projects, `npm run campaigns` the third. A campaign takes long by nature: it repeats, generates,
 * kills or waits. What it is about also has a quick test in one of the other projects.
 */
export default defineConfig({
  define: { HARNESS_SCHEMA_WORKER: "process.env.HARNESS_TEST_SCHEMA_WORKER" },
  test: {
    // Far above what anything takes on a busy machine: a limit says that something hangs, not that it is slow.
    testTimeout: PATIENCE_MS,
    hookTimeout: PATIENCE_MS,
    expect: { poll: { timeout: POLL_PATIENCE_MS } },
    sequence: { sequencer: LongestFirst },
    // `node` is the one that runs us, as it is for users; another name for it would be hashed whenever a server starts.
    env: { PATH: `${dirname(process.execPath)}:${process.env.PATH ?? ""}` },
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["src/**/*.test.ts", "test/*.test.ts"],
          // To start a program takes the longer the more memory its parent has, and threads have that of all of them.
          pool: "forks",
          isolate: false,
          maxWorkers: AT_ONCE,
          globalSetup: ["test/memory-folder.ts", "test/bundled-helper.ts"],
          setupFiles: ["test/fixed-seed.ts"],
        },
      },
      {
        extends: true,
        test: {
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          globalSetup: ["test/memory-folder.ts", "test/bundled-helper.ts", "test/install.ts"],
          pool: "forks",
          isolate: false,
          maxWorkers: AT_ONCE,
        },
      },
      {
        extends: true,
        test: {
          name: "campaigns",
          include: ["test/campaigns/*.test.ts"],
          globalSetup: ["test/bundled-helper.ts", "test/install.ts"],
          pool: "forks",
          isolate: true,
          maxWorkers: AT_ONCE,
          sequence: { groupOrder: 1 },
          setupFiles: ["test/fixed-seed.ts"],
        },
      },
    ],
  },
});
