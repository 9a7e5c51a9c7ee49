/** `harness daemon run`: the engine as a service in the foreground, until it is told to stop. */
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { makePrivateDirectory, writePrivateFile } from "#base";
import { harnessPaths } from "#sessions";
import {
  addressText,
  createSingleToken,
  type HttpServer,
  type ListenAddress,
  parseListenAddress,
  startHttpServer,
} from "#transports/http";
import type { CliPorts } from "./cli-ports.ts";
import { httpBackend } from "./daemon-backend.ts";
import type { ExitCode } from "./exit-code.ts";
import type { RunFlags } from "./flags.ts";
import { closeProgram, openProgram } from "./open-program.ts";

/** From the first signal to the end; half of it belongs to running turns. */
const STOP_GRACE_MS = 10_000;
const TOKEN_BYTES = 32;

export interface DaemonRunFlags extends RunFlags {
  readonly listen?: readonly string[];
  readonly allowOrigin?: readonly string[];
  readonly tokenFile?: string;
}

/**
 * 0 when it was told to stop. The first signal lets running turns end and takes no new ones; the second, which follows by itself,
 * cancels them.
 */
export async function daemonRunCommand(ports: CliPorts, flags: DaemonRunFlags): Promise<ExitCode> {
  const { terminal, clock } = ports;
  const listen = listenAddresses(ports, flags.listen);
  const opened = await openProgram(ports, { flags, offlineAllowed: true, canAsk: false, isService: true });
  const { harness, settings } = opened;
  const stopped = Promise.withResolvers<void>();
  let signals = 0;
  const stopListening = terminal.onInterrupt(() => {
    signals += 1;
    stopped.resolve();
    if (signals > 1) cancelTurns();
  });
  function cancelTurns(): void {
    for (const { id } of harness.control.sessions()) harness.control.session(id)?.cancel({ reason: "shutdown" });
  }
  ports.endsWhenStopped(STOP_GRACE_MS);
  const tokenFile = flags.tokenFile === undefined ? defaultTokenFile(ports) : resolve(ports.cwd, flags.tokenFile);
  const token = randomBytes(TOKEN_BYTES).toString("base64url");
  let server: HttpServer | undefined;
  try {
    server = await startHttpServer({
      backend: await httpBackend(ports, harness, settings),
      authenticate: createSingleToken(token),
      clock,
      listen,
      allowedOrigins: flags.allowOrigin ?? [],
    });
    writePrivateFile(tokenFile, `${token}\n`, { durable: false });
    for (const address of server.addresses) terminal.err(`listening on ${addressText(address)}\n`);
    terminal.err(`${harness.model} · the token is in ${tokenFile}\n`);
    await stopped.promise;
    terminal.err("stopping: running turns may end, new ones are refused\n");
    server.stopAccepting();
    await harness.control.drain();
    return 0;
  } finally {
    if (server !== undefined) rmSync(tokenFile, { force: true });
    await closeProgram(ports, opened, flags);
    await server?.close();
    stopListening();
  }
}

function listenAddresses({ env }: CliPorts, given: readonly string[] | undefined): readonly ListenAddress[] {
  if (given !== undefined) return given.map(parseListenAddress);
  const { dataDir } = harnessPaths(env);
  return [parseListenAddress(`unix:${join(dataDir, "control.sock")}`)];
}

function defaultTokenFile({ env }: CliPorts): string {
  const { stateDir } = harnessPaths(env);
  makePrivateDirectory(stateDir);
  return join(stateDir, "control.token");
}
