/** The program's entry: real ports, argv, exit code. Started by `bin/harness.cjs`. */
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  commandFirst,
  createClipboard,
  createCrash,
  createOutward,
  createTerminal,
  describeCrash,
  runCli,
  withCommand,
} from "#cli";
import { createEnvironmentKeys, environmentBlock } from "#credentials";
import { keyVariables } from "#providers/vendors";
import { createSystemClock, startDetached } from "#world";
import { buildInfo } from "./program/build-info.ts";
import { handsKeysOn, opensSession, programCredentials } from "./program/credentials.ts";

const entry = fileURLToPath(import.meta.url);
/** Both `src/` and `dist/` are one folder below the package root. */
const packageRoot = dirname(dirname(entry));
/** Built beside this file, in the same form. */
const credentialHelper = join(dirname(entry), `credential-helper${extname(entry)}`);
/** Needed here, and shown to nobody who looks at this process from outside. */
const OWN_SECRETS = /^HARNESS_(?:MACHINE_KEY|PASSPHRASE|TOKEN|SECRET_.*)$/;

const STOP_GRACE_MS = 2000;
/** As the signal for it has it: a check that nobody read to its end has not passed. */
const READER_GONE = 141;
/** Longer nobody waits for the redactor when the program has failed: its code alone is shown then. */
const CRASH_GRACE_MS = 2000;

export async function main(): Promise<void> {
  // Before anything else reads the environment, or is started and could look at it.
  const keys = createEnvironmentKeys(process.env, environmentBlock());
  for (const variable of keyVariables()) keys.hold(variable);
  for (const variable of Object.keys(process.env)) if (OWN_SECRETS.test(variable)) keys.conceal(variable);
  const argv = withCommand(commandFirst(process.argv.slice(2)));
  const clock = createSystemClock();
  const credentials = programCredentials({ env: process.env, keys, clock, file: credentialHelper });
  if (opensSession(argv)) credentials.prepare(keyVariables());
  let stopping: number | undefined;
  let endsWhenStopped = false;
  let stopGraceMs = STOP_GRACE_MS;
  let outlivesOutput = false;
  for (const [signal, code] of [
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const) {
    process.on(signal, () => {
      // A second one is a second Ctrl-C, and no reason to end in the middle of it.
      if (stopping !== undefined) process.emit("SIGINT", "SIGTERM");
      else stop(code, stopGraceMs);
      stopping ??= code;
    });
  }
  const world = { env: process.env, cwd: process.cwd(), clock, credentials };
  const outward = createOutward(
    handsKeysOn(argv) ? { ...world, credentials: { onSecret: credentials.onSecret } } : world,
  );
  const crash = createCrash();
  let finished = false;
  // Node leaves quietly, and with success, when all that somebody waits for has gone away.
  process.on("exit", () => {
    if (finished || crash.signal.aborted || process.exitCode !== undefined) return;
    process.exitCode = 1;
    process.stderr.write("✗ InternalError: the program ended before its work was done. Please report this.\n");
  });
  for (const event of ["uncaughtException", "unhandledRejection"] as const) {
    process.on(event, (error: unknown) => {
      // One is enough; what else fails on the way out says nothing.
      if (crash.signal.aborted) return;
      crash.begin();
      const { advice } = crash;
      endCrashed(describeCrash(outward, error), advice === undefined ? "" : `${advice}\n`);
    });
  }
  const terminal = createTerminal(process, world.clock, (failure) => {
    // A full disk under what a service prints is no reason for it to end.
    if (stopping !== undefined || (failure !== undefined && outlivesOutput)) return;
    const code = failure === undefined ? READER_GONE : 1;
    stopping = code;
    if (failure === undefined) stop(code, stopGraceMs);
    else
      void outward.describe(failure).then((text) => process.stderr.write(`${text}\n`, () => stop(code, stopGraceMs)));
  });
  const code = await runCli(argv, {
    terminal,
    outward,
    crash,
    clipboard: createClipboard({ ...world, platform: process.platform }),
    ...world,
    concealed: () => keys.concealed,
    build: buildInfo(packageRoot),
    programFile: entry,
    scenariosDir: join(packageRoot, "scenarios"),
    skillsDir: join(packageRoot, "skills"),
    profilesDir: join(packageRoot, "profiles"),
    templatesDir: join(packageRoot, "templates"),
    relaunch: (args, options) =>
      startDetached({
        file: join(packageRoot, "bin", "harness.cjs"),
        args,
        env: { ...definedOf(process.env), ...keys.forChild() },
        ...options,
      }),
    endsWhenStopped: (graceMs = STOP_GRACE_MS, options) => {
      endsWhenStopped = true;
      stopGraceMs = graceMs;
      outlivesOutput = options?.outlivesOutput === true;
    },
  });
  finished = true;
  credentials.close();
  process.exitCode = endsWhenStopped ? code : (stopping ?? code);
}

function definedOf(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** Says what happened, without secrets, and ends the program; it is not in a state to go on. */
function endCrashed(description: Promise<string>, advice: string): void {
  const leave = (text: string): void => {
    process.stderr.write(`${text}\n${advice}`, () => process.exit(1));
  };
  setTimeout(() => leave("✗ InternalError"), CRASH_GRACE_MS);
  void description.then(leave);
}

/** As two Ctrl-C: the turn is cancelled and recorded, then the program leaves. What does not leave is ended. */
function stop(code: number, graceMs: number): void {
  // An orderly exit runs the handlers that end what tools have started.
  setTimeout(() => process.exit(code), graceMs).unref();
  if (!process.emit("SIGINT", "SIGTERM")) process.exit(code);
  setTimeout(() => process.emit("SIGINT", "SIGTERM"), graceMs / 2).unref();
}
