/** A program whose files are replaced while it runs: what it has not loaded yet still loads, and it notices. */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { holdProgramFiles } from "./program-files.ts";

const LOOK_MS = 5_000;

/** Folder of a bundle: `main.js` names the file that runs. */
async function bundle({
  main = 'export * from "./frame-AAAA.js";' as string | undefined,
  frame = "frame-AAAA.js",
} = {}) {
  const folder = mkdtempSync(join(tmpdir(), "harness-program-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const put = (name: string, text: string): string => {
    const file = join(folder, name);
    writeFileSync(file, text);
    return file;
  };
  const entry = put(frame, "export const load = (name) => import(name);");
  if (main !== undefined) put("main.js", main);
  const clock = createManualClock();
  const seen: string[] = [];
  return { folder, put, entry, clock, seen };
}

test("notices that the program on disk is another one, once", async () => {
  const { put, entry, clock, seen } = await bundle();
  const files = await holdProgramFiles({ entry, clock, onReplaced: (how) => void seen.push(how) });
  onTestFinished(files.stop);
  await clock.advance(10 * LOOK_MS);
  expect(seen).toEqual([]);
  put("main.js", 'export * from "./frame-BBBB.js";');
  await clock.advance(10 * LOOK_MS);
  expect(seen).toEqual(["replaced"]);
  expect(clock.sleeping).toBe(0);
});

test("waits for files that are gone to come back, as they do when the same build is installed again", async () => {
  const { folder, put, entry, clock, seen } = await bundle();
  const files = await holdProgramFiles({ entry, clock, onReplaced: (how) => void seen.push(how) });
  onTestFinished(files.stop);
  rmSync(join(folder, "main.js"));
  await clock.advance(3 * LOOK_MS);
  put("main.js", 'export * from "./frame-AAAA.js";');
  await clock.advance(10 * LOOK_MS);
  expect(seen).toEqual([]);
  rmSync(join(folder, "main.js"));
  await clock.advance(20 * LOOK_MS);
  expect(seen).toEqual(["removed"]);
});

test("from source there is no build to compare with", async () => {
  const { put, entry, clock, seen } = await bundle({ main: undefined, frame: "main.ts" });
  const files = await holdProgramFiles({ entry, clock, onReplaced: (how) => void seen.push(how) });
  onTestFinished(files.stop);
  put("main.ts", "export const other = 1;");
  await clock.advance(20 * LOOK_MS);
  expect(seen).toEqual([]);
});

test("what was there at the start loads when its file is gone; what never was fails with a reason for people", async () => {
  const { folder, put, entry } = await bundle();
  put("part-AAAA.js", 'import { name } from "./deep-AAAA.js"; export const greeting = "hello " + name;');
  put("deep-AAAA.js", 'export const name = "there";');
  // In a process of its own, where Node loads modules as it does for the daemon.
  const code = `
    import { rmSync } from "node:fs";
    import { createSystemClock } from ${JSON.stringify(source("../world/index.ts"))};
    import { holdProgramFiles } from ${JSON.stringify(source("program-files.ts"))};
    const seen = [];
    const options = { entry: ${JSON.stringify(entry)}, clock: createSystemClock(), onReplaced: (how) => seen.push(how) };
    const files = await holdProgramFiles(options);
    const { load } = await import(${JSON.stringify(pathToFileURL(entry).href)});
    for (const name of ["part", "deep"]) rmSync(${JSON.stringify(folder)} + "/" + name + "-AAAA.js");
    const { greeting } = await load("./part-AAAA.js");
    const { reason, message } = await load("./never-AAAA.js").catch((error) => error);
    const foreign = await import("./nowhere.js").catch(({ code }) => code);
    files.stop();
    console.log(JSON.stringify({ greeting, seen, reason, message, foreign }));`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", code]);
  expect(JSON.parse(stdout)).toEqual({
    greeting: "hello there",
    seen: ["replaced"],
    reason: "ShuttingDown",
    message: "harness was updated while this daemon was running and ends now. Try again with the new one.",
    foreign: "ERR_MODULE_NOT_FOUND",
  });
});

function source(file: string): string {
  return pathToFileURL(join(import.meta.dirname, file)).href;
}
