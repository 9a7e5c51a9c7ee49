/**
 * `node bench/bait.ts`: opens a hostile repository with each kind of bait, with nobody to ask, with and without the project, and
 * counts what was taken before consent. Exit code 1 unless it is nothing.
 */
import { baits } from "../test/fakes/bait.ts";
import { openTrap, type Taken } from "../test/fakes/bait-run.ts";

const columns = ["bait", "run", "without the project", "scripts run", "requests elsewhere", "words in the prompt"];
process.stdout.write(`| ${columns.join(" | ")} |\n| ${columns.map(() => "---").join(" | ")} |\n`);
const totals = { ran: 0, wrongRequests: 0, words: 0 };
for (const bait of baits) {
  const trap = await openTrap([bait]);
  try {
    const plain = await trap.run("run", "--auto-approve", "hello");
    const without = await trap.run("run", "--no-project", "hello");
    const { ran, wrongRequests, words }: Taken = trap.taken();
    totals.ran += ran.length;
    totals.wrongRequests += wrongRequests;
    totals.words += words.length;
    const cells = [bait.name, outcome(plain), outcome(without), ran.length, wrongRequests, words.length];
    process.stdout.write(`| ${cells.join(" | ")} |\n`);
  } finally {
    await trap.close();
  }
}
const { ran, wrongRequests, words } = totals;
process.stdout.write(
  `\n${baits.length} kinds of bait: ${ran} ran, ${wrongRequests} requests went elsewhere, ${words} reached the prompt\n`,
);
process.exitCode = ran + wrongRequests + words === 0 ? 0 : 1;

function outcome({ code, err }: { readonly code: number | null; readonly err: string }): string {
  const reason = /✗ (\w+)/.exec(err)?.[1];
  return reason === undefined ? `exit ${code}` : `exit ${code}, ${reason}`;
}
