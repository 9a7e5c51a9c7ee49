/**
 * `node bench/delimiters.ts`: forged and look-alike delimiters in five sources (a file, a command's output, a web page, a script's
 * result, a file of the prompt), sent through the whole program; what the vendor got is read as a careless reader would.
 */
import { runDelimiterCampaign } from "../test/fakes/delimiter-campaign.ts";
import { printFigures } from "./figures.ts";

const { forged, sources, outside, blocks } = await runDelimiterCampaign();
const figures = [
  {
    name: `delimiters outside of their block, of ${forged} forged ones in each of ${sources} sources`,
    unit: "",
    ours: outside,
    limit: 0,
  },
  { name: "blocks that the vendor got", unit: "", ours: blocks },
];
printFigures("delimiters", figures);
process.exitCode = outside === 0 && blocks >= sources ? 0 : 1;
