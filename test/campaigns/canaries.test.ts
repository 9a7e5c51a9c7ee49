/** A few canaries through every way in and out of the program; `node bench/canaries.ts` does it with 1,000. */
import { expect, test } from "vitest";
import { makeCanaries, rawIn } from "../fakes/canaries.ts";
import { type CliRun, readBack, runCanaryCli, runProgram } from "../fakes/canary-cli.ts";
import { leaks, placeFor } from "../fakes/canary-leaks.ts";
import { runCanarySession } from "../fakes/canary-session.ts";
import { everywhere } from "../fakes/canary-ways.ts";
import { noRedaction } from "../fakes/no-redaction.ts";

test("no canary leaves the program", async () => {
  const place = await placeFor(everywhere(makeCanaries(60, 12)));
  const exits = await runCanaryCli(place);
  for (const exit of ["run", "run --json", "uncaughtException", "unhandledRejection", "validate", "JSON lines store"]) {
    expect(exits.get(exit), exit).toContain("«redacted:");
  }
  expect(leaks(place, exits)).toEqual({});
});

test("a log that was written without redaction shows none", async () => {
  // Read back event by event: one that is known only by what follows it in the next event is the limit of that.
  const canaries = makeCanaries(40, 13)
    .filter(({ name }) => !name.endsWith("-url"))
    .slice(0, 30);
  const place = await placeFor(everywhere(canaries));
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
