/**
 * `node bench/redaction-public.ts [seed] [rounds]`: recall and false positives on samples that are made from what public rule sets
 * describe, not from our own rules. What is missed or changed is listed by format on the standard error output.
 */
import { createRedactor } from "#redaction";
import { publicCases } from "../test/corpora/public-cases.ts";
import type { SecretCase } from "../test/corpora/secret-case.ts";
import { type Figure, holds, printFigures } from "./figures.ts";

const MOST_MISSED_PREFIXED_PERCENT = 5;
const MOST_MISSED_GENERIC_PERCENT = 15;
const MOST_CHANGED_PERCENT = 10;

const seed = Number(process.argv[2] ?? 1);
const rounds = Number(process.argv[3] ?? 20);
const redactor = createRedactor();
const { prefixed, generic, vendorKeyed, nearMisses } = publicCases(seed, rounds);
const changed = nearMisses.filter(({ text }) => redactor.redact(text).text !== text);
list(
  "changed",
  changed.map(({ family }) => family),
);
const figures: Figure[] = [
  missed("vendor tokens with a fixed prefix", prefixed, MOST_MISSED_PREFIXED_PERCENT),
  missed("values behind a generic name", generic, MOST_MISSED_GENERIC_PERCENT),
  missed("values behind the name of a vendor", vendorKeyed, MOST_MISSED_GENERIC_PERCENT),
  {
    name: `changed of ${nearMisses.length} near-misses`,
    unit: "%",
    ours: (100 * changed.length) / nearMisses.length,
    limit: MOST_CHANGED_PERCENT,
  },
];
printFigures("redaction of publicly described formats", figures);
process.exitCode = figures.every(holds) ? 0 : 1;

function missed(name: string, cases: readonly SecretCase[], limit: number): Figure {
  const passed = cases.filter(({ text, secret }) => redactor.redact(text).text.includes(secret));
  list(
    "missed",
    passed.map(({ kind }) => kind),
  );
  return { name: `missed of ${cases.length} ${name}`, unit: "%", ours: (100 * passed.length) / cases.length, limit };
}

function list(what: string, names: readonly string[]): void {
  const counts = Map.groupBy(names, (name) => name);
  for (const [name, all] of [...counts].sort((a, b) => b[1].length - a[1].length))
    process.stderr.write(`${what}: ${name} (${all.length})\n`);
}
