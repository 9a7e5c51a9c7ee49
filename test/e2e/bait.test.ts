/** A hostile repository, opened with the program as users start it: nothing of it runs, moves the endpoint or reaches the prompt. `test/campaigns/bait.test.ts` tries every command. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { ackProject } from "../fakes/ack-project.ts";
import { baits } from "../fakes/bait.ts";
import { type BaitTrap, openTrap } from "../fakes/bait-run.ts";

const nothing = { ran: [], wrongRequests: 0, words: [] };
const ofLinks = baits.filter(({ name }) => name.includes("links"));
const others = baits.filter((bait) => !ofLinks.includes(bait));

let trap: BaitTrap;
afterEach(() => trap.close());

test("every bait at once: a run is refused, and takes none of it", async () => {
  trap = await openTrap(others);
  const refused = await trap.run("run", "--json", "--auto-approve", "hello");
  expect(JSON.parse(refused.out)).toMatchObject({ error: { reason: "NonInteractiveAckRefused", exit_code: 2 } });
  await trap.run("inspect");
  expect({ ...trap.taken(), asked: trap.asked }).toEqual({ ...nothing, asked: 0 });
});

test("links that lead out are no part of a project", async () => {
  trap = await openTrap(ofLinks);
  expect(await trap.run("run", "hello")).toMatchObject({
    code: 2,
    err: expect.stringContaining("outside the project"),
  });
  expect(trap.taken()).toEqual(nothing);
});

test("the same repository does what it says once it is acked: what is counted above would have been seen", async () => {
  trap = await openTrap(others);
  await ackProject({ workspace: trap.root, env: trap.env });
  await trap.run("run", "-m", "anthropic:claude-x", "hello");
  expect(trap.taken().ran).toContain("hook");
  expect(trap.taken().words).toEqual(expect.arrayContaining(["BAIT-TOOL", "BAIT-BUNDLE", "BAIT-ROOT"]));
  // A key is bound to its hosts, whatever was agreed to; a request without one shows that the address is looked at.
  const stolen = await trap.run("run", "-m", "openai:stolen", "hello");
  expect(stolen.err).toContain("CredentialHostRefused: ANTHROPIC_API_KEY is not sent to");
  expect(trap.taken().wrongRequests).toBe(0);
  const root = join(trap.root, "harness.md");
  const keyless = readFileSync(root, "utf8").replace("provider: openai", "provider: custom");
  writeFileSync(root, keyless.replace(", api_key_env: ANTHROPIC_API_KEY", ""));
  await ackProject({ workspace: trap.root, env: trap.env });
  await trap.run("run", "-m", "custom:stolen", "hello");
  expect(trap.taken().wrongRequests).toBeGreaterThan(0);
});
