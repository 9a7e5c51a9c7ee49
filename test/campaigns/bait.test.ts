/** A hostile repository under every command: nothing of it runs, moves the endpoint or reaches the prompt. `test/e2e/bait.test.ts` has the quick part. */
import { afterEach, expect, test } from "vitest";
import { baits } from "../fakes/bait.ts";
import { type BaitTrap, openTrap } from "../fakes/bait-run.ts";

const nothing = { ran: [], wrongRequests: 0, words: [] };
const others = baits.filter(({ name }) => !name.includes("links"));

let trap: BaitTrap;
afterEach(() => trap.close());

test("every bait at once: refused with the files and the command; no command takes any of it", async () => {
  trap = await openTrap(others);
  const refused = await trap.run("run", "hello");
  expect(refused).toMatchObject({ code: 2, out: "", err: expect.stringContaining("NonInteractiveAckRefused") });
  for (const file of [
    "harness.md",
    ".harness/hooks/start.md",
    ".harness/tools/status.md",
    ".harness/plugins/style.md",
    "id_rsa",
  ]) {
    expect(refused.err).toContain(`  new     ${file}\n`);
  }
  expect(refused.err).toContain("harness ack");
  const json = await trap.run("run", "--json", "--auto-approve", "hello");
  expect(JSON.parse(json.out)).toMatchObject({ error: { reason: "NonInteractiveAckRefused", exit_code: 2 } });
  for (const args of [
    ["deploy", "--input", "hello"],
    ["serve", "--source", "stdin"],
    ["ack"],
    ["ack", "--all"],
    ["ack", "--all", "--yes"],
    ["ack", "--emit-lockfile"],
  ]) {
    expect(await trap.run(...args), args.join(" ")).toMatchObject({ code: 2 });
  }
  for (const args of [["validate"], ["tools"], ["hooks"], ["inspect"], ["run", "--list-tools"], ["models"]]) {
    await trap.run(...args);
  }
  expect(await trap.run("verify-ack")).toMatchObject({ code: 1 });
  // A lock file that the repository brings counts only for whoever names it, and this one lists nothing.
  expect(await trap.run("run", "--lockfile", "approved.lock", "hello")).toMatchObject({ code: 2 });
  expect({ ...trap.taken(), asked: trap.asked }).toEqual({ ...nothing, asked: 0 });

  // Without the project the user's own configuration answers, and still nothing of the bait is in it.
  expect(await trap.run("run", "--no-project", "hello")).toMatchObject({ code: 0, out: "done\n" });
  const { session } = JSON.parse((await trap.run("run", "--no-project", "--json", "hello")).out.split("\n")[0] ?? "");
  expect(await trap.run("audit", "anchor", session, "--git-note")).toMatchObject({ code: 0 });
  expect(await trap.run("audit", "verify", session, "--git-note")).toMatchObject({ code: 0 });
  expect({ ...trap.taken(), asked: trap.asked }).toEqual({ ...nothing, asked: 2 });
});
