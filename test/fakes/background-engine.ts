/** Started by `killed-engine.ts`: runs a command in the background without a sandbox, with a child of its own, and says so. */
import { createProcesses } from "#world";

const [root = "", mark = ""] = process.argv.slice(2);
const command = `sleep 600 & exec -a ${mark} sleep 600`;
process.stdout.write("begins\n");
await createProcesses({ root, env: process.env }).run(
  {
    ...{ file: "bash", args: ["-c", command, mark], timeoutMs: 600_000 },
    onStarted: () => void process.stdout.write("runs\n"),
  },
  new AbortController().signal,
);
