import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { openJsonlStore } from "./jsonl/store.ts";
import { createMemoryStore } from "./memory-store.ts";
import { openSqliteStore } from "./sqlite/store.ts";
import { describeStore, TEST_KEY } from "./store-suite.ts";

const directory = mkdtempSync(join(tmpdir(), "harness-stores-"));
afterAll(() => rmSync(directory, { recursive: true }));
let opened = 0;

describeStore("memory", async () => createMemoryStore());
describeStore("sqlite", () =>
  openSqliteStore({ path: join(directory, `${++opened}.db`), clock: createManualClock(), key: TEST_KEY }),
);
describeStore("jsonl", () => openJsonlStore({ root: join(directory, `${++opened}`), clock: createManualClock() }));
