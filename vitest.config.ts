import { defineConfig } from "vitest/config";

/** Unit tests share one process per thread; end-to-end tests, which start processes and bind sockets, get their own. */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "unit",
          include: ["src/**/*.test.ts", "test/*.test.ts"],
          pool: "threads",
          isolate: false,
          // By default one core stays idle.
          maxWorkers: "100%",
          setupFiles: ["test/fixed-seed.ts"],
          testTimeout: 20_000,
        },
      },
      {
        test: {
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          globalSetup: ["test/install.ts"],
          pool: "forks",
          isolate: true,
          // They wait for processes more than they compute.
          maxWorkers: 4,
          sequence: { groupOrder: 1 },
          testTimeout: 60_000,
        },
      },
    ],
  },
});
