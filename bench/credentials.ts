/**
 * `node bench/credentials.ts`: how much longer the program, installed, takes to its first request when that needs a key, against one bare
 * start of Node, and how often a key is seen from outside while children of all kinds run. Exit code 1 unless both hold.
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installInto } from "../test/fakes/installed-package.ts";
import { type Found, type Hunt, huntForKey } from "../test/fakes/key-hunt.ts";
import { startMockProvider } from "../test/fakes/mock-provider-server.ts";
import { type Figure, holds, median, printFigures } from "./figures.ts";

const REPEATS = Number(process.env.BENCH_REPEATS ?? 25);

const figures = await coldStart();
printFigures("credentials", figures);
const clean = await hunts();
process.exitCode = figures.every(holds) && clean ? 0 : 1;

/** Both from the start of the process to the arrival of its first request, in turns, so that a busy machine slows both. */
async function coldStart(): Promise<Figure[]> {
  const scratch = mkdtempSync(join(tmpdir(), "harness-bench-"));
  const workspace = join(scratch, "workspace");
  mkdirSync(workspace);
  const launcher = installInto(scratch);
  const vendor = await startMockProvider({ always: { type: "message", blocks: [{ type: "text", text: "ok" }] } });
  const address = `${vendor.url}/v1`;
  const env = { PATH: process.env.PATH ?? "", HOME: scratch, OPENAI_BASE_URL: address, OLLAMA_BASE_URL: address };
  const firstRequest = async (model: string, more: Record<string, string>): Promise<number> => {
    const known = vendor.requests.length;
    const startMs = performance.now();
    const args = [launcher, "run", "-m", model, "--store", "memory", "hello"];
    const child = spawn(process.execPath, args, { cwd: workspace, env: { ...env, ...more }, stdio: "ignore" });
    await new Promise((done) => child.once("close", done));
    return (vendor.requests[known]?.arrivedMs ?? Number.NaN) - startMs;
  };
  const bareStart = (): number => {
    const startMs = performance.now();
    spawnSync(process.execPath, ["-e", "0"], { env, stdio: "ignore" });
    return performance.now() - startMs;
  };
  const withKey: number[] = [];
  const without: number[] = [];
  const bare: number[] = [];
  try {
    for (let run = 0; run < REPEATS + 2; run++) {
      const times = [
        await firstRequest("openai:bench", { OPENAI_API_KEY: "sk-bench-0123456789" }),
        await firstRequest("ollama:bench", {}),
        bareStart(),
      ];
      // The first runs fill the compile cache and the page cache.
      if (run < 2) continue;
      for (const [index, list] of [withKey, without, bare].entries()) list.push(times[index] ?? Number.NaN);
    }
  } finally {
    await vendor.close();
    rmSync(scratch, { recursive: true, force: true });
  }
  const grown = withKey.map((ms, index) => ms - (without[index] ?? Number.NaN));
  return [
    {
      name: "first request with a key, against one without",
      unit: "ms",
      ours: median(withKey),
      floor: median(without),
    },
    {
      name: "what a key adds, against one bare start of Node",
      unit: "ms",
      ours: median(grown),
      floor: median(bare),
      maxRatio: 1,
    },
  ];
}

async function hunts(): Promise<boolean> {
  const list: Hunt[] = [
    { name: "a command in the sandbox", flags: [], call: "exec", stored: false },
    { name: "a command without a sandbox", flags: ["--sandbox", "off"], call: "exec", stored: false },
    { name: "a program of a script", flags: ["--sandbox", "off"], call: "script", stored: false },
    { name: "a stored key", flags: ["--sandbox", "off"], call: "exec", stored: true },
  ];
  const columns = [
    "while this runs",
    "processes",
    "keys in environment, arguments and files",
    "in the engine's memory",
    "sent to the vendor",
  ];
  process.stdout.write(`\n| ${columns.join(" | ")} |\n| --- | ---: | ---: | ---: | ---: |\n`);
  let isClean = true;
  for (const hunt of list) {
    const secret = `sk-hunt-${crypto.randomUUID().replaceAll("-", "")}`;
    const found: Found = await huntForKey(hunt, secret);
    const { processes, places, inEngineMemory, sentToVendor, exitCode } = found;
    process.stdout.write(
      `| ${[hunt.name, processes.length, places.length, inEngineMemory, sentToVendor].join(" | ")} |\n`,
    );
    for (const place of places) process.stdout.write(`seen: ${place}\n`);
    isClean &&= places.length === 0 && inEngineMemory === 0 && sentToVendor > 0 && exitCode === 0;
  }
  return isClean;
}
