/**
 * From exec to the echo of a typed key, ours and that of other programs, in turns on a pseudo-terminal of 120x40 that a headless terminal
 * answers. The others are installed from the npm registry, without their install scripts, into a folder outside of this one; each runs
 * in a home of its own with a key that opens nothing and, where the system allows it, in a network of its own that ends at this machine.
 * What cannot be installed or reaches no prompt is listed with the reason. Usage: node bench/tui-peers.ts [runs] [folder for the others]
 */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as pty from "@lydell/node-pty";
import headless from "@xterm/headless";
import { startMockProvider } from "../test/fakes/mock-provider-server.ts";
import { median } from "./figures.ts";
import { type Peer, type PeerPlace, peers } from "./tui-peer-table.ts";

/** The environment variable says that this process is the one in a network of its own. */
const INSIDE = "HARNESS_BENCH_PEERS_INSIDE";
const RUNS = Number(process.argv[2] ?? 5);
const FOLDER = resolve(process.argv[3] ?? join(tmpdir(), "harness-peers"));
const INSTALL_MS = 300_000;
const GIVE_UP_MS = 30_000;
const KEY_EVERY_MS = 5;
const MAX_RATIO = 0.65;
const repository = resolve(import.meta.dirname, "..");
/** What the package contains, so that no source is newer than the bundle. */
const PACKAGED = ["bin", "dist", "profiles", "scenarios", "skills", "templates", "package.json"];
const installed = join(FOLDER, "harness");
const launcher = join(installed, "bin", "harness.cjs");

interface Started {
  readonly ms: number;
  /** What the screen showed when it was given up; empty: it came. */
  readonly instead: string;
}

interface Program {
  readonly name: string;
  readonly isFullScreen: boolean;
  start(): Promise<Started>;
}

if (process.env[INSIDE] === undefined) outside();
else await inside();

function outside(): void {
  execFileSync(process.execPath, [join(repository, "scripts/build.ts")], { cwd: repository, stdio: "ignore" });
  rmSync(installed, { recursive: true, force: true });
  for (const part of PACKAGED) cpSync(join(repository, part), join(installed, part), { recursive: true });
  symlinkSync(join(repository, "node_modules"), join(installed, "node_modules"));
  for (const peer of peers) install(peer);
  const again = [process.execPath, ...process.argv.slice(1)];
  const own = ["unshare", "-rn", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"];
  const isAlone = spawnSync(own[0] ?? "", [...own.slice(1), "true"]).status === 0;
  if (!isAlone) console.log("No network of its own could be made: the others may look for updates meanwhile.");
  const [file = "", ...args] = isAlone ? [...own, ...again] : again;
  process.exitCode = spawnSync(file, args, { env: { ...process.env, [INSIDE]: "1" }, stdio: "inherit" }).status ?? 1;
}

function folderOf({ name }: Peer): string {
  return join(FOLDER, name.toLowerCase().replaceAll(/[^a-z]+/g, "-"));
}

function fileOf(peer: Peer): string | undefined {
  return peer.files.map((file) => join(folderOf(peer), "node_modules", file)).find((file) => existsSync(file));
}

function install(peer: Peer): void {
  const folder = folderOf(peer);
  if (fileOf(peer) !== undefined) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{"private":true}');
  for (const name of peer.packages) {
    const args = [
      "install",
      "--prefix",
      folder,
      "--ignore-scripts",
      "--no-audit",
      "--no-fund",
      "--loglevel=error",
      name,
    ];
    const { status, stderr } = spawnSync("npm", args, { cwd: folder, timeout: INSTALL_MS, encoding: "utf8" });
    if (status === 0) return;
    console.log(
      `${peer.name}: ${name} could not be installed: ${stderr?.trim().split("\n").at(0) ?? "it took too long"}`,
    );
  }
}

async function inside(): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), "harness-peers-run-"));
  const mock = await startMockProvider();
  const env = ownEnv(root);
  try {
    execFileSync(process.execPath, [launcher, "daemon", "start"], { env, cwd: root, stdio: "ignore" });
    const own = [
      ownProgram("Harness, attached", root, env, []),
      ownProgram("Harness, no daemon", root, env, ["--no-daemon"]),
    ];
    const others = peers.flatMap((peer) => peerProgram(peer, root, mock.url));
    report(await measured([...own, ...others]));
  } finally {
    execFileSync(process.execPath, [launcher, "daemon", "stop"], { env, cwd: root, stdio: "ignore" });
    await mock.close();
    rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

/** In turns, so that other work on the machine is everybody's. The first run fills caches and does not count. */
async function measured(programs: readonly Program[]): Promise<ReadonlyMap<Program, readonly number[]>> {
  const times = new Map<Program, number[]>();
  for (const program of programs) {
    const { instead } = await program.start();
    if (instead === "") times.set(program, []);
    else console.log(`${program.name}: no echo within ${GIVE_UP_MS / 1000} s. It showed: ${instead}`);
  }
  for (let run = 0; run < RUNS; run++) {
    for (const [program, known] of times) {
      const { ms, instead } = await program.start();
      known.push(instead === "" ? ms : GIVE_UP_MS);
    }
  }
  return times;
}

function report(times: ReadonlyMap<Program, readonly number[]>): void {
  const medianOf = (name: string): number => median([...times].find(([program]) => program.name === name)?.[1] ?? []);
  const ours = medianOf("Harness, attached");
  const codex = medianOf("Codex");
  console.log(`\n| program | best | median | against Harness, attached |\n| --- | ---: | ---: | ---: |`);
  for (const [{ name }, values] of [...times].toSorted((a, b) => median(a[1]) - median(b[1]))) {
    const cells = [`${Math.min(...values).toFixed(0)} ms`, `${median(values).toFixed(0)} ms`];
    console.log(`| ${name} | ${cells.join(" | ")} | ${(median(values) / ours).toFixed(2)}x |`);
  }
  const screens = [...times].filter(([{ name, isFullScreen }]) => isFullScreen && !name.startsWith("Harness"));
  const ahead = screens.filter(([, values]) => median(values) <= ours).map(([{ name }]) => name);
  const isFast = Number.isNaN(codex) ? "Codex was not measured" : `${(ours / codex).toFixed(2)}x of Codex`;
  console.log(`\n${isFast} (at most ${MAX_RATIO}x); full screens ahead of it: ${ahead.join(", ") || "none"}`);
  process.exitCode = ours / codex <= MAX_RATIO && ahead.length === 0 ? 0 : 1;
}

function ownEnv(home: string): Readonly<Record<string, string>> {
  return { PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, HOME: home, TERM: "xterm-256color", LC_ALL: "C.UTF-8" };
}

function ownProgram(
  name: string,
  home: string,
  env: Readonly<Record<string, string>>,
  args: readonly string[],
): Program {
  const command = [process.execPath, launcher, ...args];
  return { name, isFullScreen: true, start: () => started(command, { env, cwd: newFolder(home) }) };
}

function peerProgram(peer: Peer, root: string, url: string): readonly Program[] {
  const file = fileOf(peer);
  if (file === undefined) {
    console.log(`${peer.name}: not measured, it is not installed`);
    return [];
  }
  const home = newFolder(root);
  const place: PeerPlace = { url, home, workspace: newFolder(root) };
  for (const [path, text] of Object.entries(peer.config?.(place) ?? {})) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  }
  const env = { ...ownEnv(home), ...peer.env(place) };
  const { name, isFullScreen, typesAfter, before, args = [] } = peer;
  const options = { env, cwd: place.workspace };
  if (before !== undefined) spawnSync(file, [...before], { ...options, timeout: GIVE_UP_MS });
  return [{ name, isFullScreen, start: () => started([file, ...args], options, typesAfter) }];
}

function newFolder(root: string): string {
  return mkdtempSync(join(root, "folder-"));
}

/** The terminal does not echo by itself, so that a key on the screen is one that the program has shown. */
async function started(
  command: readonly string[],
  options: { env: Record<string, string>; cwd: string },
  typesAfter = "",
): Promise<Started> {
  const terminal = new headless.Terminal({ cols: 120, rows: 40, allowProposedApi: true });
  let begin = performance.now();
  const child = pty.spawn("sh", ["-c", 'stty -echo; echo EXEC; exec "$@"', "sh", ...command], {
    ...options,
    cols: 120,
    rows: 40,
  });
  let isOver = false;
  const ended = new Promise<void>((done) =>
    child.onExit(() => {
      isOver = true;
      done();
    }),
  );
  terminal.onData((data) => isOver || child.write(data));
  const echoed = Promise.withResolvers<Started>();
  const executed = Promise.withResolvers<void>();
  const ready = Promise.withResolvers<void>();
  child.onData((data) =>
    terminal.write(data, () => {
      executed.resolve();
      if (screenOf(terminal).includes(typesAfter)) ready.resolve();
      // Two letters that follow each other in no word.
      if (/qx|xq/.test(screenOf(terminal))) echoed.resolve({ ms: performance.now() - begin, instead: "" });
    }),
  );
  await executed.promise;
  begin = performance.now();
  const over = new AbortController();
  const typing = Promise.race([ready.promise, ended]).then(() => typed(child, over.signal, () => isOver));
  const late = sleep(GIVE_UP_MS, undefined, { signal: over.signal }).then(
    () => undefined,
    () => undefined,
  );
  const result = await Promise.race([echoed.promise, late, ended]);
  over.abort();
  if (!isOver) process.kill(-child.pid, "SIGKILL");
  await ended;
  await typing;
  const instead = screenOf(terminal).replaceAll(/\s+/g, " ").trim().slice(0, 300) || "nothing";
  terminal.dispose();
  return result ?? { ms: GIVE_UP_MS, instead };
}

async function typed(child: pty.IPty, signal: AbortSignal, isOver: () => boolean): Promise<void> {
  for (let key = 0; !signal.aborted && !isOver(); key++) {
    child.write(key % 2 === 0 ? "q" : "x");
    await sleep(KEY_EVERY_MS);
  }
}

function screenOf(terminal: headless.Terminal): string {
  const { active } = terminal.buffer;
  return Array.from({ length: active.length }, (_, at) => active.getLine(at)?.translateToString(true) ?? "").join("\n");
}
