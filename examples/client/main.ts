/**
 * A client on the library, in one file: one prompt, what happens on standard output, approvals by whoever is there. It starts
 * `harness rpc` for itself, or uses a daemon that runs. An installed package is imported as "harness-runtime/client".
 *
 *   node examples/client/main.ts --cwd DIR "Run the tests"
 *   node examples/client/main.ts --cwd DIR --connect unix:PATH --token-file FILE "Run the tests"
 *   node examples/client/main.ts --cwd DIR --approve allow_once "Run the tests"      nobody is asked
 */
import { join, resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { parseArgs } from "node:util";
import { connect, type Decision, type Target } from "../../src/client/index.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    cwd: { type: "string", default: "." },
    connect: { type: "string" },
    "token-file": { type: "string", default: "" },
    approve: { type: "string" },
  },
});

const program = join(import.meta.dirname, "../../bin/harness.cjs");
const workingDir = resolve(values.cwd);
const target: Target =
  values.connect === undefined
    ? { command: [process.execPath, program, "rpc", "--cwd", workingDir] }
    : { socket: values.connect.replace(/^unix:/, ""), tokenFile: values["token-file"] };

async function decide(summary: string): Promise<Decision> {
  // The four answers, checked by the server.
  if (values.approve !== undefined) return values.approve as Decision;
  if (!process.stdin.isTTY) return "deny";
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(`${summary}\nAllow? [y/N] `);
  terminal.close();
  return answer === "y" ? "allow_once" : "deny";
}

const client = await connect(target);
try {
  const session = await client.open({ workingDir });
  const events = session.events();
  await session.send(positionals.join(" "));
  for await (const event of events) {
    switch (event.kind) {
      case "TextDelta":
        process.stdout.write(event.payload.text);
        break;
      case "ToolCallStarted":
        console.log(`\n→ ${event.payload.label} ${JSON.stringify(event.payload.args)}`);
        break;
      case "ToolResult":
        console.log(`← ${event.payload.outcome}`);
        break;
      case "PermissionRequested":
        await session.answer(event.payload.call_id, await decide(event.payload.summary));
        break;
      case "Error":
        console.error(`\n${event.payload.message}`);
        break;
      default: // also kinds that came later than this program
    }
    if (event.kind === "TurnEnded") {
      console.log();
      process.exitCode = event.payload.outcome === "answered" ? 0 : 1;
      break;
    }
  }
} finally {
  await client.close();
}
