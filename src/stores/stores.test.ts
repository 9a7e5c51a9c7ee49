import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { defined } from "#base";
import { openJsonStore } from "../../test/fakes/json-backend.ts";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { describeStore, TEST_KEY } from "../../test/store-suite.ts";
import { openJsonlStore } from "./jsonl/store.ts";
import { createMemoryStore } from "./memory-store.ts";
import { openSqliteStore } from "./sqlite/store.ts";

const directory = mkdtempSync(join(tmpdir(), "harness-stores-"));
afterAll(() => rmSync(directory, { recursive: true }));
let opened = 0;

describeStore("memory", async (signer) => createMemoryStore(signer && { signer, clock: createManualClock() }));
describeStore("sqlite", (signer) =>
  openSqliteStore({
    path: join(directory, `${++opened}.db`),
    clock: createManualClock(),
    key: TEST_KEY,
    ...defined({ signer }),
  }),
);
describeStore("jsonl", (signer) =>
  openJsonlStore({ root: join(directory, `${++opened}`), clock: createManualClock(), ...defined({ signer }) }),
);
describeStore("a further kind", (signer) =>
  openJsonStore({ folder: join(directory, `${++opened}`), clock: createManualClock(), ...defined({ signer }) }),
);
