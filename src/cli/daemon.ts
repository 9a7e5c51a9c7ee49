/** `harness daemon run`: the engine as a service in the foreground, until it is told to stop. */
import { join } from "node:path";
import { harnessPaths } from "#sessions";
import {
  addressText,
  type HttpServer,
  isLoopback,
  type ListenAddress,
  parseListenAddress,
  startHttpServer,
} from "#transports/http";
import type { CliPorts } from "./cli-ports.ts";
import { type AccessFlags, openDaemonAccess } from "./daemon-access.ts";
import { httpBackend } from "./daemon-backend.ts";
import type { ExitCode } from "./exit-code.ts";
import type { RunFlags } from "./flags.ts";
import { closeProgram, openProgram } from "./open-program.ts";

/** From the first signal to the end; half of it belongs to running turns. */
const STOP_GRACE_MS = 10_000;

export interface DaemonRunFlags extends RunFlags, AccessFlags {
  readonly listen?: readonly string[];
  readonly allowOrigin?: readonly string[];
}

/**
 * 0 when it was told to stop. The first signal lets running turns end and takes no new ones; the second, which follows by itself,
 * cancels them.
 */
export async function daemonRunCommand(ports: CliPorts, flags: DaemonRunFlags): Promise<ExitCode> {
  const { terminal, clock } = ports;
  const listen = listenAddresses(ports, flags.listen);
  const access = openDaemonAccess(ports, flags, listen);
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
  let server: HttpServer | undefined;
  try {
    server = await startHttpServer({
      backend: await httpBackend(ports, harness, settings),
      authenticate: access.authenticate,
      desk: access.desk,
      ...(access.tls === undefined ? {} : { tls: access.tls }),
      clock,
      listen,
      allowedOrigins: flags.allowOrigin ?? [],
    });
    access.begin();
    for (const address of server.addresses) {
      const isSecured = address.kind === "tcp" && !isLoopback(address.host);
      terminal.err(`listening on ${addressText(address)}${isSecured ? " with TLS" : ""}\n`);
    }
    terminal.err(`${harness.model} · the token is in ${access.tokenFile}\n`);
    await stopped.promise;
    terminal.err("stopping: running turns may end, new ones are refused\n");
    server.stopAccepting();
    await harness.control.drain();
    return 0;
  } finally {
    try {
      await closeProgram(ports, opened, flags);
      await server?.close();
    } finally {
      // Not before: streams are to end because the daemon stops, and not because their token does.
      access.end();
      stopListening();
    }
  }
}

function listenAddresses({ env }: CliPorts, given: readonly string[] | undefined): readonly ListenAddress[] {
  if (given !== undefined) return given.map(parseListenAddress);
  const { dataDir } = harnessPaths(env);
  return [parseListenAddress(`unix:${join(dataDir, "control.sock")}`)];
}
