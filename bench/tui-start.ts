/**
 * From exec to the echo of a typed key, on a pseudo-terminal: the full interface and the line interface, attached to a daemon that runs
 * and in a process of their own, beside a bare Node that echoes. The program is an installed package, and keys are typed
 * from the start on. `node bench/tui-start.ts [runs]`.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as pty from "@lydell/node-pty";
import { installInto } from "../test/fakes/installed-package.ts";

const RUNS = Number(process.argv[2] ?? 10);
const KEY_EVERY_MS = 4;
const GIVE_UP_MS = 20_000;
const home = mkdtempSync(join(tmpdir(), "harness-start-"));
const launcher = installInto(join(home, "package"));
const env = {
  PATH: process.env.PATH ?? "",
  HOME: home,
  XDG_DATA_HOME: join(home, "data"),
  XDG_CONFIG_HOME: join(home, "config"),
  XDG_CACHE_HOME: join(home, "cache"),
  XDG_STATE_HOME: join(home, "state"),
  TERM: "xterm-256color",
};

const BARE = `process.stdin.setRawMode(true); process.stdin.on("data", (d) => process.stdout.write(d)); process.stdout.write("READY");`;
const PASTE_ON = "\u001b[?2004h";

/** `from`: what the program writes when it has the terminal, so that the terminal's own echo does not count. */
const cases = [
  { name: "bare Node", args: ["-e", BARE], from: "READY" },
  { name: "full interface, attached", args: [launcher], from: PASTE_ON },
  { name: "line interface, attached", args: [launcher, "--plain"], from: "› " },
  { name: "full interface, no daemon", args: [launcher, "--no-daemon"], from: PASTE_ON },
  { name: "line interface, no daemon", args: [launcher, "--no-daemon", "--plain"], from: "› " },
];

async function readyMs({ args, from }: (typeof cases)[number], folder: string): Promise<number> {
  mkdirSync(folder, { recursive: true });
  const began = performance.now();
  const child = pty.spawn(process.execPath, args, { cwd: folder, env, cols: 120, rows: 40 });
  const ended = new Promise<void>((done) => child.onExit(() => done()));
  let shown = "";
  const echoed = Promise.withResolvers<number>();
  child.onData((data) => {
    shown += data;
    const at = shown.indexOf(from);
    if (at >= 0 && shown.indexOf("z", at + from.length) >= 0) echoed.resolve(performance.now() - began);
  });
  const over = new AbortController();
  const typing = (async () => {
    while (!over.signal.aborted) {
      child.write("z");
      await sleep(KEY_EVERY_MS);
    }
  })();
  const ms = await Promise.race([echoed.promise, sleep(GIVE_UP_MS, Number.NaN)]);
  over.abort();
  await typing;
  child.kill("SIGKILL");
  await ended;
  return ms;
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

const times = new Map(cases.map(({ name }) => [name, [] as number[]]));
try {
  execFileSync(process.execPath, [launcher, "daemon", "start"], { env, cwd: home, stdio: "ignore" });
  // The first run fills the cache of compiled code.
  for (const one of cases) await readyMs(one, join(home, "warm"));
  for (let run = 0; run < RUNS; run++) {
    for (const [at, one] of cases.entries()) times.get(one.name)?.push(await readyMs(one, join(home, `${run}-${at}`)));
  }
  const bare = median(times.get("bare Node") ?? []);
  for (const [name, values] of times) {
    const best = Math.min(...values);
    const mid = median(values);
    console.log(
      `${name.padEnd(28)} best ${best.toFixed(0)} ms, median ${mid.toFixed(0)} ms, ${(mid / bare).toFixed(2)}x`,
    );
  }
} finally {
  execFileSync(process.execPath, [launcher, "daemon", "stop"], { env, cwd: home, stdio: "ignore" });
  rmSync(home, { recursive: true, force: true });
}
