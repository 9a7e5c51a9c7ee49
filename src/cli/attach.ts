/** `harness attach`: this terminal on a session of a running daemon, beside whoever else is on it. */

import { resolve } from "node:path";
import { defined, paint, visibleLine } from "#base";
import type { Client, ClientSession, Input } from "#client";
import {
  createDaemonRevival,
  type DaemonFlags,
  type DaemonRevival,
  daemonPlace,
  ensureDaemon,
  reachDaemon,
} from "#daemon";
import { loadConfig, tellExpiring } from "#program";
import { ReasonError, type SessionInfo } from "#protocol";
import { lastSession, namedSession, newSession, type OfferParts, offeredSession } from "./attach-offer.ts";
import { type AttachedParts, createResend, inputText } from "./attach-resend.ts";
import type { CliPorts } from "./cli-ports.ts";
import { converse } from "./conversation.ts";
import { isLocal, reviewForDaemon } from "./daemon-project.ts";
import type { ExitCode } from "./exit-code.ts";
import { type InterfaceFlags, showsFullInterface } from "./interface-choice.ts";
import { handleInterrupts } from "./interrupt.ts";
import { beginningOfLastTurn, eventLine, openSessionView, type SessionView } from "./session-view.ts";
import { approvingWords } from "./slash-words.ts";

export interface AttachFlags extends DaemonFlags, InterfaceFlags {
  readonly new?: boolean;
  readonly last?: boolean;
  readonly cwd?: string;
  readonly model?: string;
  /** By name, for a new session. */
  readonly profile?: string;
  readonly json?: boolean;
  /** With `json`. */
  readonly since?: number;
}

/** 0 when the person leaves or the session ends: it goes on without us, or it is over. */
export async function attachCommand(ports: CliPorts, named: string | undefined, flags: AttachFlags): Promise<ExitCode> {
  const left = new AbortController();
  // At an address that was named, whoever named it knows what listens there.
  const revival = flags.connect === undefined ? createDaemonRevival(ports) : undefined;
  const client = await reachDaemon(ports, daemonPlace(ports, flags), left.signal, revival).catch((error: unknown) => {
    if (!(error instanceof ReasonError) || error.reason !== "ServerUnreachable") throw error;
    const advice = "Start one with harness daemon start, or name its address with --connect.";
    throw ReasonError.withMessage("ServerUnreachable", `${error.message} ${advice}`, { cause: error });
  });
  return attach({ ports, client, revival, named, flags, left });
}

/**
 * `harness` alone on a terminal: attached to the daemon of this user, which is started when none runs. Undefined when it cannot be
 * used, and the person has been told: they converse in this process then.
 */
export async function attachAlone(ports: CliPorts, look: InterfaceFlags): Promise<ExitCode | undefined> {
  const left = new AbortController();
  let client: Client;
  let revival: DaemonRevival;
  try {
    const { address, tokenFile, started, recycled } = await ensureDaemon(ports);
    for (const what of recycled) ports.terminal.err(`${what}: it was replaced\n`);
    if (started)
      ports.terminal.err("The engine runs in the background now: harness daemon status, harness daemon stop.\n");
    else await tellKeys(ports, { address, tokenFile });
    revival = createDaemonRevival(ports);
    client = await reachDaemon(ports, { address, tokenFile }, left.signal, revival);
  } catch (error) {
    ports.terminal.err(`${await ports.outward.describe(error)}\nNo daemon is available: continuing in this process.\n`);
    return undefined;
  }
  const { HARNESS_MODEL: model } = ports.env;
  const flags = { ...look, ...defined({ model }) };
  return attach({ ports, client, revival, named: undefined, flags, left });
}

async function tellKeys(ports: CliPorts, daemon: { readonly address: string; readonly tokenFile: string }) {
  const { keysOnlyHere } = await import("./keys-only-here.ts");
  const names = await keysOnlyHere(ports, daemon);
  if (names.length === 0) return;
  ports.terminal.err(
    `The daemon was started without the key of ${names.join(", ")} that is set here. To use it: harness daemon restart.\n`,
  );
}

interface Attaching {
  readonly ports: CliPorts;
  readonly client: Client;
  /** Absent where the daemon is not ours to start. */
  readonly revival: DaemonRevival | undefined;
  readonly named: string | undefined;
  readonly flags: AttachFlags;
  readonly left: AbortController;
}

async function attach({ ports, client, revival, named, flags, left }: Attaching): Promise<ExitCode> {
  const { terminal, clock } = ports;
  const isFull = flags.json !== true && (await showsFullInterface(ports, flags));
  let cancel = (): boolean => false;
  let session: ClientSession | undefined;
  const stopListening =
    flags.json || isFull || !terminal.interactive
      ? terminal.onInterrupt(() => left.abort())
      : handleInterrupts({ terminal, clock, cancel: () => cancel(), exit: () => left.abort() });
  try {
    // The daemon of another place has another log.
    // In the full interface it is a banner.
    if (flags.connect === undefined && flags.json !== true && !isFull) {
      await tellExpiring(ports, async () => (await loadConfig(ports, undefined)).settings.retention);
    }
    const workingDir = resolve(ports.cwd, flags.cwd ?? ".");
    const isOwnDaemon = flags.connect === undefined;
    const parts: OfferParts = {
      client,
      terminal: (await ports.outward.through(ports, false)).terminal,
      workingDir,
      review: () => reviewForDaemon(ports, client, { dir: workingDir, profile: flags.profile, isOwnDaemon }),
      nowMs: clock.now(),
      signal: left.signal,
      ...defined({ model: flags.model, profile: flags.profile }),
    };
    session = await chosenSession(parts, named, flags);
    while (session !== undefined) {
      if (flags.json) return await printEvents(ports, session, flags.since, left.signal);
      const info = await session.info();
      const { activity, working_dir, profile, model, last_event_id: last } = info;
      // Attaching opens it again.
      if (activity === undefined) await reviewForDaemon(ports, client, { dir: working_dir, profile, isOwnDaemon });
      const since = await beginningOfLastTurn(session, last);
      const here = { ports, client, revival, session, left: left.signal };
      session = isFull
        ? await inFullInterface(here, flags, { info, since })
        : await inLines(here, { since, last, model: String(model) }, (found) => {
            cancel = found;
          });
    }
    return 0;
  } catch (error) {
    throw session === undefined ? error : didNotComeBack(error, session.id, flags);
  } finally {
    stopListening();
    await client.close();
  }
}

/** The session to go on with; undefined when the person has left or it has ended. */
async function inLines(
  parts: Omit<AttachedParts, "view">,
  { since, last, model }: { readonly since: number; readonly last: number; readonly model: string },
  onCancel: (cancel: () => boolean) => void,
): Promise<ClientSession | undefined> {
  const { ports, client, session, left } = parts;
  const { terminal, outward } = ports;
  const here = new AbortController();
  const view = openSessionView({
    ports,
    client,
    session,
    output: "stream",
    interactive: terminal.interactive,
    since,
    last,
    isHere: false,
    signal: AbortSignal.any([left, here.signal]),
  });
  await view.reached(last);
  onCancel(() => {
    const describe = async (error: unknown): Promise<void> => terminal.err(`${await outward.describe(error)}\n`);
    if (view.isTurnRunning) void session.cancel().catch(describe);
    return view.isTurnRunning;
  });
  const next = await attached({ ...parts, view }, model);
  here.abort();
  await view.ended;
  return next === undefined ? undefined : client.session(next);
}

/** The session to go on with; undefined when the person has left or it has ended. */
async function inFullInterface(
  parts: Omit<AttachedParts, "view">,
  flags: Pick<AttachFlags, "connect" | keyof InterfaceFlags>,
  from: { readonly info: SessionInfo; readonly since: number },
): Promise<ClientSession | undefined> {
  const { client, session, ports } = parts;
  const { showFullInterface } = await import("./full-interface.ts");
  const comeBack = `The session continues; to come back: harness attach ${session.id}`;
  const about = { ...from, comeBack, isOwnLog: flags.connect === undefined };
  const end = await showFullInterface({ ...parts, ...flags, ...about });
  if (end.kind === "other") return client.session(end.session);
  ports.terminal.err(end.kind === "ended" ? "The session has ended.\n" : `Detached. ${comeBack}\n`);
  return undefined;
}

/** The daemon was there, and is not any more. */
function didNotComeBack(error: unknown, session: string, { connect }: AttachFlags): unknown {
  if (!(error instanceof ReasonError) || !GONE.has(error.reason)) return error;
  const advice =
    connect === undefined
      ? `It did not come back. Start it with harness daemon start, then continue with harness attach ${session}`
      : `It did not come back. When it runs again, continue with harness attach ${session} --connect ${connect}`;
  return ReasonError.withMessage(error.reason, `${error.message} ${advice}`, { cause: error });
}

const GONE: ReadonlySet<string> = new Set(["ServerUnreachable", "ConnectionLost"]);

/** The id of the session to go on with here; undefined when it is over. */
async function attached(
  parts: AttachedParts & { readonly view: SessionView },
  model: string,
): Promise<string | undefined> {
  const { ports, client, session, view, left } = parts;
  const { terminal } = ports;
  if (!terminal.interactive) {
    terminal.err(`${session.id} · read-only, because there is no terminal to type on\n`);
    await view.ended;
    return undefined;
  }
  terminal.err(`${session.id} · ${visibleLine(model)} · attached on ${client.address} · /help for help\n`);
  const send = createResend(parts);
  const queue = async (input: Input): Promise<void> => {
    await send(input, () => session.queue(input));
    view.finishLine();
    terminal.err(`${paint(terminal, "dim", `queued: ${visibleLine(inputText(input))}`)}\n`);
  };
  const over = await converse({
    ports,
    session,
    view,
    // The connection may break: what was typed is sent again.
    words: {
      queue: async ({ text = "" }, { contentOf }) => queue(await contentOf(text)),
      ...(isLocal(client) && approvingWords(ports, session)),
    },
    send: (input) => (view.isTurnRunning ? queue(input) : send(input, () => session.send(input))),
    runCommand: (command) => send(`!${command}`, () => session.submit({ kind: "RunShellCommand", command })),
    left,
  });
  if (over.kind === "other") return over.session;
  const goesOn = `Detached. The session continues; to come back: harness attach ${session.id}\n`;
  terminal.err(over.kind === "ended" ? "The session has ended.\n" : goesOn);
  return undefined;
}

async function chosenSession(
  parts: OfferParts,
  named: string | undefined,
  flags: AttachFlags,
): Promise<ClientSession | undefined> {
  if (named !== undefined) return namedSession(parts.client, named);
  if (!parts.terminal.interactive && flags.json !== true && flags.last !== true) {
    const detail =
      "there is no terminal for a conversation: name a session to watch, or use --last; to send a prompt, use harness run";
    throw new ReasonError("UsageInvalid", detail);
  }
  if (flags.new) return newSession(parts);
  if (!flags.last) return offeredSession(parts);
  const last = await lastSession(parts);
  if (last === undefined) {
    throw new ReasonError("UsageInvalid", `the daemon has no session of ${parts.workingDir}; to start one, use --new`);
  }
  return namedSession(parts.client, last.id);
}

/** Canonical events as JSON lines, until the session ends or it is told to stop. */
async function printEvents(
  { terminal }: CliPorts,
  session: ClientSession,
  since: number | undefined,
  signal: AbortSignal,
): Promise<ExitCode> {
  for await (const event of session.events({ signal, ...defined({ since }) })) {
    await terminal.outDrained(eventLine(event));
  }
  return 0;
}
