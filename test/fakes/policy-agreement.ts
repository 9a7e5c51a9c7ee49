/** What a backtest says of recorded sessions under the policy that was in force, and of that policy without one of its rules. */
import { createBacktest, createPolicyDiff, isSame } from "#governance";
import { recordCorpus } from "./policy-corpus.ts";
import { policyMutations } from "./policy-mutations.ts";

export interface PolicyAgreement {
  /** Calls that the backtest decides in another way than they were decided. */
  readonly differing: readonly string[];
  /** Rules that decided something and whose removal goes unnoticed. */
  readonly missed: readonly string[];
  readonly decided: number;
}

export async function policyAgreement(calls: number): Promise<PolicyAgreement> {
  const parts = await recordCorpus(calls);
  const differing: string[] = [];
  const missed: string[] = [];
  let decided = 0;
  for (const { name, policy: inForce, session } of parts) {
    const backtest = createBacktest(inForce).begin(session);
    const deciding = new Set(session.calls.map(({ live }) => live?.by));
    for (const call of session.calls) {
      const again = await backtest.decide(call);
      if (again === undefined || call.live === undefined) continue;
      decided += 1;
      if (!isSame(again, call.live))
        differing.push(`${name}: ${call.name} ${JSON.stringify([call.args, call.live, again])}`);
    }
    const removals = policyMutations(inForce).filter(
      ({ name: mutation }) =>
        mutation.endsWith(": removed") && deciding.has(`rule ${mutation.replace(/^\w+ (.*): removed$/, "$1")}`),
    );
    for (const mutation of removals) {
      const compared = await createPolicyDiff(inForce, mutation.policy).compare(session);
      if (compared.every(({ change }) => change === "same" || change === "unjudged"))
        missed.push(`${name}: ${mutation.name}`);
    }
  }
  return { differing, missed, decided };
}
