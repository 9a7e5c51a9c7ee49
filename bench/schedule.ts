/** Ticks of schedules over kills of the process that runs them. `node bench/schedule.ts [kills] [ticks] [seed]`. */
import { killSchedules } from "../test/fakes/schedule-kills.ts";
import { createSeededRandom } from "./seeded-random.ts";

const [kills = 50, ticks = 1_000, seed = 1] = process.argv.slice(2).map(Number);
const report = await killSchedules(kills, ticks, createSeededRandom(seed));
const { unreported, twice, missedThere, errors } = report;
console.log(
  `${report.ticks} ticks over ${report.kills} kills: ${report.ran} ran, ${report.missed} missed, ${report.lost} lost (all reported)`,
);
console.log(`${unreported} without a report (required: 0), ${twice} twice (required: 0)`);
console.log(`${missedThere.length} missed although a process was there (required: 0)`);
for (const error of [...missedThere, ...errors]) console.log(`✗ ${error}`);
process.exitCode = unreported + twice + missedThere.length + errors.length === 0 ? 0 : 1;
