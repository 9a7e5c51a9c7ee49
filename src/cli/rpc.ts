/** `harness rpc`: the engine for another program, over JSON-RPC on standard input and output. */

import { defined } from "#base";
import { daemonFor } from "#daemon";
import { serveRpc } from "#daemon/serving";
import { closeProgram, type LogFlags, openProgram, openServiceLog, type RunFlags, tellOffline } from "#program";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";

export interface RpcFlags extends RunFlags, LogFlags {
  readonly identityClass: "human" | "agent";
}

/** 0 at the end of input, when the reader goes away, and when it is told to stop. */
export async function rpcCommand(ports: CliPorts, flags: RpcFlags): Promise<ExitCode> {
  const { terminal, clock, build } = ports;
  // Before anything else can write there.
  const output = terminal.claimOutput();
  const { log, watch } = await openServiceLog(ports, flags);
  const options = {
    flags,
    offlineAllowed: true,
    isOverWire: true,
    foldersNamed: flags.cwd === undefined,
    watch,
    startDaemon: () => daemonFor(ports),
    // By whoever started the program, whatever its client may do.
    ...defined({ context: flags.set }),
  };
  const { harness, settings, workspace } = await openProgram(ports, options);
  tellOffline(ports, harness);
  const transport = log.of("transport.rpc");
  transport.info("stage", { stage: "ready", model: harness.model });
  const stopped = new AbortController();
  const stopListening = terminal.onInterrupt(() => stopped.abort());
  ports.endsWhenStopped();
  try {
    await serveRpc({
      control: harness.control,
      store: harness.store,
      slashCommands: (session) => harness.slashCommands(session),
      clock,
      identityClass: flags.identityClass,
      directory: workspace,
      version: build.version,
      input: terminal.readBytes(stopped.signal),
      write: (text) => output.write(text),
      onClosed: () => stopped.abort(),
      shutdown: () => closeProgram(ports, { harness, settings }, flags),
      outward: await ports.outward.load(),
      log: (line) => {
        transport.warn(line);
        terminal.err(`${line}\n`);
      },
    });
    return 0;
  } finally {
    transport.info("stage", { stage: "ended" });
    output.close();
    stopListening();
  }
}
