import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { createSystemClock } from "#world";
import { createCliHome } from "../../test/fakes/cli-process.ts";
import { openInputHistory } from "./input-history.ts";

const PROCESSES = 4;
const INPUTS = 25;

test("a long input is kept, and the oldest ones make room before the file is too large to be read", async () => {
  const { env } = createCliHome();
  const ports = { env, clock: createSystemClock(), outward: { orNothing: async (text: string) => text } };
  const history = openInputHistory(ports as unknown as Parameters<typeof openInputHistory>[0], "/p");
  const long = (n: number): string => `${n} ${"構".repeat(60_000)}`;
  for (let n = 0; n < 50; n++) await history.add(long(n));
  const kept = history.inputs();
  expect(kept[0]).toBe(long(49));
  expect(kept.length).toBeGreaterThan(30);
  expect(kept.length).toBeLessThan(50);
});

test("conversations of several processes that add at the same time lose nothing", async () => {
  const { env } = createCliHome();
  const script = `
    import { createSystemClock } from "#world";
    import { openInputHistory } from "./src/cli/input-history.ts";
    const outward = { orNothing: async (text) => text };
    const history = openInputHistory({ env: process.env, clock: createSystemClock(), outward }, "/p");
    const [name = ""] = process.argv.slice(1);
    for (let n = 0; n < ${INPUTS}; n++) await history.add(name + n);
    if (name === "") console.log(JSON.stringify(history.inputs().filter((input) => /^[a-z]/.test(input)).sort()));
  `;
  const cwd = new URL("../..", import.meta.url);
  const run = (...args: string[]) =>
    promisify(execFile)(process.execPath, ["--input-type=module-typescript", "-e", script, ...args], { cwd, env });
  const names = Array.from({ length: PROCESSES }, (_, n) => String.fromCharCode(97 + n));
  await Promise.all(names.map((name) => run(name)));
  const { stdout } = await run();
  const expected = names.flatMap((name) => Array.from({ length: INPUTS }, (_, n) => `${name}${n}`));
  expect(JSON.parse(stdout)).toEqual(expected.sort());
});
