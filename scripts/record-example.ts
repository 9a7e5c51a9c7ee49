/**
 * Records the cassettes of examples/evals anew, for when requests to a model have changed on purpose. A stand-in for the vendor
 * answers, so that no key is needed. `node scripts/record-example.ts`
 */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { startMockProvider } from "../test/fakes/mock-provider-server.ts";

const root = resolve(import.meta.dirname, "..");
const usage = { input: 120, output: 20 };

const vendor = await startMockProvider();
vendor.reply(
  {
    type: "message",
    blocks: [{ type: "tool_call", name: "get_weather", arguments: '{"city": "Vienna"}' }],
    usage,
  },
  { type: "message", blocks: [{ type: "text", text: "It is sunny in Vienna, 22 degrees." }], usage },
);
const home = mkdtempSync(join(tmpdir(), "harness-record-"));
try {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [join(root, "bin/harness.cjs"), "eval", "--record", "--case", "weather"],
    {
      cwd: join(root, "examples/evals"),
      env: {
        PATH: process.env.PATH,
        HOME: home,
        OPENAI_API_KEY: "stand-in",
        OPENAI_BASE_URL: `${vendor.url}/v1`,
      },
    },
  );
  process.stdout.write(stdout);
} finally {
  rmSync(home, { recursive: true, force: true });
  await vendor.close();
}
