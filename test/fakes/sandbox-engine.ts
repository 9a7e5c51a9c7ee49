/** `node sandbox-engine.ts <workspace> <mark>`: an engine that runs a command which would go on for ever. To be killed. */
import { createProcesses, createSystemClock } from "#base";
import { createSandboxes } from "#sandbox";

const [root = ".", mark = "mark"] = process.argv.slice(2);
const { processes } = createSandboxes({
  mode: "required",
  env: process.env,
  ownPaths: [],
  clock: createSystemClock(),
}).open({ root, processes: createProcesses({ root, env: process.env }) });
const script = `trap '' TERM HUP; setsid bash -c 'exec -a ${mark} sleep 600' & echo begun; while :; do sleep 1; done`;
await processes.run(
  { file: "bash", args: ["-c", script], timeoutMs: 600_000, onOutput: (_stream, chunk) => process.stdout.write(chunk) },
  new AbortController().signal,
);
