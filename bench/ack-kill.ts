/**
 * Kills servers with SIGKILL within 5 ms of an acknowledgement, over every wire; counts what was acknowledged and is lost or has
 * happened twice. `node bench/ack-kill.ts [kills] [seed]`.
 */
import { killAfterAcks } from "../test/fakes/ack-kills.ts";
import { createSeededRandom } from "./seeded-random.ts";

const DEFAULT_KILLS = 500;
const SHOWN_FINDINGS = 20;
const [kills = DEFAULT_KILLS, seed = 1] = process.argv.slice(2).map(Number);

const { tallies, total, findings, failures } = await killAfterAcks(kills, createSeededRandom(seed));
console.log("| wire | acknowledged | kills | acknowledgements | lost | twice |");
console.log("| --- | --- | ---: | ---: | ---: | ---: |");
for (const [wire, kinds] of tallies) {
  for (const [kind, tally] of kinds) {
    console.log(`| ${wire} | ${kind} | ${tally.kills} | ${tally.acknowledged} | ${tally.lost} | ${tally.twice} |`);
  }
}
for (const line of [...findings.slice(0, SHOWN_FINDINGS), ...failures]) console.log(`✗ ${line}`);
const { acknowledged, lost, twice } = total;
console.log(
  `${total.kills} kills, ${acknowledged} acknowledgements: ${lost} lost, ${twice} twice, ${failures.length} failures`,
);
process.exitCode = lost + twice + failures.length === 0 ? 0 : 1;
