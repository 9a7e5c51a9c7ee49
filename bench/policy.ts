/**
 * Recorded calls, decided again: whether the backtest of the policy that was in force says what was decided live, how many decisions
 * it makes in a second, and whether small edits of the policy are found. `node bench/policy.ts [calls]`.
 */
import { createBacktest, createPolicyDiff, isSame } from "#governance";
import { type CorpusPart, recordCorpus } from "../test/fakes/policy-corpus.ts";
import { policyMutations } from "../test/fakes/policy-mutations.ts";
import { type Figure, holds, printFigures } from "./figures.ts";

const CALLS = 10_000;
const MUTATIONS = 50;
const MIN_DECISIONS_PER_S = 20_000;
const SHOWN = 10;

async function agreement(parts: readonly CorpusPart[]): Promise<Figure[]> {
  let decided = 0;
  let differing = 0;
  let unknown = 0;
  let unjudged = 0;
  for (const { name, policy, session } of parts) {
    const backtest = createBacktest(policy).begin(session);
    for (const call of session.calls) {
      const again = await backtest.decide(call);
      if (again === undefined || call.live === undefined) {
        unjudged += 1;
        continue;
      }
      decided += 1;
      if (again.effect === "unknown") unknown += 1;
      else if (!isSame(again, call.live)) {
        differing += 1;
        if (differing > SHOWN) continue;
        process.stderr.write(
          `${name}: ${call.name} ${JSON.stringify(call.args)}\n  live: ${JSON.stringify(call.live)}\n`,
        );
        process.stderr.write(`  again: ${JSON.stringify(again)}\n`);
      }
    }
  }
  process.stdout.write(`${decided} calls decided again, ${unjudged} that nothing had judged left out\n`);
  return [
    { name: "recorded calls that were decided live and again", unit: "calls", ours: decided },
    { name: "of them decided otherwise than live, in effect, rule or place", unit: "calls", ours: differing, limit: 0 },
    { name: "of them that cannot be told", unit: "calls", ours: unknown, limit: 0 },
  ];
}

/**
 * All calls once more, each under two policies as `harness policy diff` does, which makes one decision where nothing that could decide
 * differs; and each under one. In processor time, since a busy machine gives what it likes of the other.
 */
async function speed(parts: readonly CorpusPart[]): Promise<Figure[]> {
  let decided = 0;
  const startMs = performance.now();
  const start = process.threadCpuUsage();
  for (const { policy, session } of parts) {
    const after = { ...policy, rules: policy.rules.slice(1) };
    const compared = await createPolicyDiff(policy, after).compare(session);
    decided += 2 * compared.filter(({ change }) => change !== "unjudged").length;
  }
  const { user, system } = process.threadCpuUsage(start);
  const wallMs = performance.now() - startMs;
  const perSecond = (decided / (user + system)) * 1e6;
  process.stdout.write(
    `${Math.round(await aloneRate(parts))} decisions a second of processor time under one policy alone\n`,
  );
  process.stdout.write(`${Math.round(perSecond)} decisions a second of processor time, `);
  process.stdout.write(`${Math.round((decided / wallMs) * 1000)} a second on the clock\n`);
  return [
    { name: "processor time of one decision", unit: "µs", ours: 1e6 / perSecond, limit: 1e6 / MIN_DECISIONS_PER_S },
  ];
}

async function aloneRate(parts: readonly CorpusPart[]): Promise<number> {
  let decided = 0;
  const start = process.threadCpuUsage();
  for (const { policy, session } of parts) {
    const backtest = createBacktest({ ...policy, rules: policy.rules.slice(1) }).begin(session);
    for (const call of session.calls) if ((await backtest.decide(call)) !== undefined) decided += 1;
  }
  const { user, system } = process.threadCpuUsage(start);
  return (decided / (user + system)) * 1e6;
}

/** Each mutation is held against the calls of its own part; found is one whose diff is not empty. */
async function mutations(parts: readonly CorpusPart[]): Promise<Figure[]> {
  const missed: string[] = [];
  let made = 0;
  const perPart = Math.ceil(MUTATIONS / parts.filter(({ policy }) => policy.rules.length > 1).length);
  for (const { name, policy, session } of parts) {
    if (policy.rules.length < 2) continue;
    // A rule that has decided about nothing on the record cannot be missed by it.
    const deciding = new Set(session.calls.map(({ live }) => live?.by));
    // One that is written in two places is still there when one of them is changed.
    const isTwice = (text: string): boolean => policy.rules.filter((rule) => rule.text === text).length > 1;
    const rules = policy.rules
      .filter(({ text }) => deciding.has(`rule ${text}`) && !isTwice(text))
      .map(({ text }) => ` ${text}: `);
    const all = policyMutations(policy).filter(
      (mutation) =>
        !isIdle(mutation.name, name) &&
        (!mutation.name.includes(": ") || rules.some((rule) => mutation.name.includes(rule))),
    );
    // Spread over all kinds and all rules.
    const chosen = all.filter(
      (_, index) => Math.floor((index * perPart) / all.length) !== Math.floor(((index - 1) * perPart) / all.length),
    );
    for (const mutation of chosen) {
      made += 1;
      const compared = await createPolicyDiff(policy, mutation.policy).compare(session);
      if (!compared.some(({ change }) => change !== "same" && change !== "unjudged"))
        missed.push(`${name}: ${mutation.name}`);
    }
  }
  for (const line of missed.slice(0, SHOWN)) process.stderr.write(`not found: ${line}\n`);
  return [
    { name: `policy mutations that the diff does not find, of ${made}`, unit: "", ours: missed.length, limit: 0 },
  ];
}

/** Takes away what this part does not have. */
function isIdle(mutation: string, part: string): boolean {
  if (mutation === "the tool policies removed") return part !== "project" && !part.startsWith("below");
  return mutation === "the rules for labels removed" && part !== "project";
}

if (import.meta.main) {
  const parts = await recordCorpus(Number(process.argv[2] ?? CALLS));
  const figures = [...(await agreement(parts)), ...(await speed(parts)), ...(await mutations(parts))];
  printFigures("policy", figures);
  process.exitCode = figures.every(holds) ? 0 : 1;
}
