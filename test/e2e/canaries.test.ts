/** A few canaries through every way in and out; `node bench/canaries.ts` does it with 1,000. */
import { expect, onTestFinished, test } from "vitest";
import { makeCanaries, rawIn, redactorFor } from "../fakes/canaries.ts";
import { type CliRun, readBack, runCanaryCli, runProgram } from "../fakes/canary-cli.ts";
import { type CanaryPlace, type Exits, openCanaryPlace, runCanarySession, waysOut } from "../fakes/canary-session.ts";
import { apart, type Cargo, everywhere, WAYS } from "../fakes/canary-ways.ts";
import { noRedaction } from "../fakes/no-redaction.ts";

const TIMEOUT_MS = 240_000;

async function placeFor(load: Cargo): Promise<CanaryPlace> {
  const place = await openCanaryPlace(load);
  onTestFinished(() => place.close());
  return place;
}

/** Exits in which something is raw, with what it is. */
function leaks(place: CanaryPlace, exits: Exits): Record<string, string[]> {
  const found = [...exits].map(([exit, text]) => [exit, rawIn(text, place.canaries).map(({ name }) => name)] as const);
  return Object.fromEntries(found.filter(([, names]) => names.length > 0));
}

test("without redaction every way in leads out: what follows can fail", { timeout: TIMEOUT_MS }, async () => {
  const place = await placeFor(apart(makeCanaries(300), 1));
  const out = waysOut(place.load, await runCanarySession(place, async () => noRedaction));
  expect(WAYS.filter((way) => !out.has(way))).toEqual([]);
});

test("no canary leaves a session", { timeout: TIMEOUT_MS }, async () => {
  const place = await placeFor(everywhere(makeCanaries(60, 11)));
  const exits = await runCanarySession(place);
  expect(exits.get("bodies of requests")).toContain("«redacted:");
  expect(leaks(place, exits)).toEqual({});
});

test("no canary leaves the program", { timeout: TIMEOUT_MS }, async () => {
  const place = await placeFor(everywhere(makeCanaries(60, 12)));
  const exits = await runCanaryCli(place);
  for (const exit of ["run", "run --json", "uncaughtException", "unhandledRejection", "validate", "JSON lines store"]) {
    expect(exits.get(exit), exit).toContain("«redacted:");
  }
  expect(leaks(place, exits)).toEqual({});
});

test("a log that was written without redaction shows none", { timeout: TIMEOUT_MS }, async () => {
  const place = await placeFor(everywhere(makeCanaries(30, 13)));
  const told = (await runCanarySession(place, async () => noRedaction)).get("events at a subscriber") ?? "";
  expect(rawIn(told, place.canaries)).toHaveLength(30);
  const exits = new Map<string, string>();
  const harness = async (_name: string, args: readonly string[]): Promise<CliRun> => {
    const run = await runProgram(place, args);
    exits.set(args.join(" "), `${run.out}${run.err}`);
    return run;
  };
  await readBack(harness, /sess_\w{26}/.exec(told)?.[0] ?? "", /call_\w{26}/.exec(told)?.[0] ?? "");
  expect(leaks(place, exits)).toEqual({});
});

test("none passes a stream that is cut in two, wherever the cut is", () => {
  const canaries = makeCanaries(60, 14);
  const redactor = redactorFor(canaries);
  const passed = canaries.filter((canary) => {
    for (let at = 1; at < canary.text.length; at++) {
      const stream = redactor.createStreamRedactor();
      const begin = stream.push(canary.text.slice(0, at)) + stream.settle();
      if (rawIn(begin + stream.push(canary.text.slice(at)) + stream.flush(), [canary]).length > 0) return true;
    }
    return false;
  });
  expect(passed).toEqual([]);
});
