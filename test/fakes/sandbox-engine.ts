/** `node sandbox-engine.ts <workspace> <mark> [<folder for the names it holds>]`: an engine that runs a command which would go on for ever. To be killed. */

import { createSandboxes } from "#sandbox";
import { createProcesses, createSystemClock } from "#world";

const [root = ".", mark = "mark", heldFolder] = process.argv.slice(2);
const { processes } = createSandboxes({
  env: process.env,
  ownPaths: [],
  clock: createSystemClock(),
  isSecret: () => false,
  ...(heldFolder && { heldFolder }),
}).open({ mode: "required", root, processes: createProcesses({ root, env: process.env }) });
const never = new AbortController().signal;
await processes.run({ file: "true", args: [], timeoutMs: 10_000 }, never);
// What the machine has is known from here on: the next command begins at once.
process.stdout.write("begins\n");
const script = `trap '' TERM HUP; setsid bash -c 'exec -a ${mark} sleep 600' & echo runs; while :; do sleep 1; done`;
await processes.run(
  {
    file: "bash",
    args: ["-c", script],
    confinement: "workspace",
    timeoutMs: 600_000,
    onOutput: (_stream, chunk) => process.stdout.write(chunk),
  },
  never,
);
