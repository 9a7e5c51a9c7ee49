import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const source = (file: string): string => JSON.stringify(pathToFileURL(resolve(import.meta.dirname, "..", file)).href);

/** Says that it has done all, and only much later what a key is bound to. */
const lateHelper = `
import { createFrameReader } from ${source("credentials/helper-frames.ts")};
const say = (answer) => process.stdout.write(JSON.stringify(answer) + "\\n");
const read = createFrameReader(({ type, id }) => {
  if (type === "hello") say({ type: "ready", socket: "/nonexistent" });
  if (type === "sync") say({ type: "synced" });
  if (type === "bind") setTimeout(() => say({ type: "bound", id }), 300);
});
process.stdin.on("data", read).on("end", () => process.exit(0));
`;

const engine = (helper: string): string => `
import { createSystemClock } from ${source("world/index.ts")};
import { createHelperSupervisor } from ${source("credentials/helper-supervisor.ts")};
const supervisor = createHelperSupervisor({
  file: ${JSON.stringify(helper)}, env: process.env, clock: createSystemClock(), store: () => { throw new Error("none"); },
});
supervisor.start();
supervisor.bind({ type: "bind", id: "k", auth: "bearer", from: { secret: "k", hosts: [] } });
void supervisor.told([]);
await supervisor.told(["k"]);
console.log("told");
supervisor.close();
`;

test("the program stays until everybody who waits for the helper has an answer, not only the first", () => {
  const folder = mkdtempSync(join(tmpdir(), "harness-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const helper = join(folder, "helper.mjs");
  writeFileSync(helper, lateHelper);
  const entry = join(folder, "engine.mjs");
  writeFileSync(entry, engine(helper));
  expect(execFileSync(process.execPath, [entry], { encoding: "utf8" })).toBe("told\n");
});
