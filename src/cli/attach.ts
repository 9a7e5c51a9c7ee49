/** `harness attach`: this terminal on a session of a running daemon, beside whoever else is on it. */

import { resolve } from "node:path";
import { defined, paint, visibleLine } from "#base";
import type { Client, ClientSession } from "#client";
import {
  createDaemonRevival,
  type DaemonFlags,
  type DaemonRevival,
  daemonPlace,
  ensureDaemon,
  reachDaemon,
} from "#daemon";
import { loadConfig, mayHaveProject, tellExpiring } from "#program";
import { ReasonError } from "#protocol";
import {
  describe,
  lastSession,
  listedSessions,
  namedSession,
  newSession,
  type OfferParts,
  offeredSession,
} from "./attach-offer.ts";
import { type AttachedParts, createResend } from "./attach-resend.ts";
import type { CliPorts } from "./cli-ports.ts";
import { converse } from "./conversation.ts";
import type { ExitCode } from "./exit-code.ts";
import { reviewAt } from "./file-review.ts";
import { handleInterrupts } from "./interrupt.ts";
import { beginningOfLastTurn, eventLine, openSessionView } from "./session-view.ts";
import { addedWords, type SlashHandlers } from "./slash-words.ts";

export interface AttachFlags extends DaemonFlags {
  readonly new?: boolean;
  readonly last?: boolean;
  readonly cwd?: string;
  readonly model?: string;
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
export async function attachAlone(ports: CliPorts): Promise<ExitCode | undefined> {
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
  const flags = model === undefined ? {} : { model };
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
  let cancel = (): boolean => false;
  let session: ClientSession | undefined;
  const tell = async (error: unknown): Promise<void> => terminal.err(`${await ports.outward.describe(error)}\n`);
  const stopListening =
    flags.json || !terminal.interactive
      ? terminal.onInterrupt(() => left.abort())
      : handleInterrupts({ terminal, clock, cancel: () => cancel(), exit: () => left.abort() });
  try {
    // The daemon of another place has another log.
    if (flags.connect === undefined && flags.json !== true) {
      await tellExpiring(ports, async () => (await loadConfig(ports, undefined)).settings.retention);
    }
    const workingDir = resolve(ports.cwd, flags.cwd ?? ".");
    const parts: OfferParts = {
      client,
      terminal: (await ports.outward.through(ports, false)).terminal,
      workingDir,
      review: () => reviewProject(ports, client, workingDir),
      nowMs: clock.now(),
      signal: left.signal,
      ...defined({ model: flags.model }),
    };
    session = await chosenSession(parts, named, flags);
    while (session !== undefined) {
      if (flags.json) return await printEvents(ports, session, flags.since, left.signal);
      const { activity, working_dir, model, last_event_id: last } = await session.info();
      // Attaching opens it again.
      if (activity === undefined) await reviewProject(ports, client, working_dir);
      const here = new AbortController();
      const running = session;
      const view = openSessionView({
        ports,
        client,
        session,
        output: "stream",
        interactive: terminal.interactive,
        since: await beginningOfLastTurn(session, last),
        last,
        isHere: false,
        signal: AbortSignal.any([left.signal, here.signal]),
      });
      await view.reached(last);
      cancel = () => {
        if (view.isTurnRunning) void running.cancel().catch(tell);
        return view.isTurnRunning;
      };
      const next = await attached({ ports, client, revival, session, view, left: left.signal }, String(model));
      here.abort();
      await view.ended;
      session = next === undefined ? undefined : await namedSession(client, next);
    }
    return 0;
  } catch (error) {
    throw session === undefined ? error : didNotComeBack(error, session.id, flags);
  } finally {
    stopListening();
    await client.close();
  }
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
async function attached(parts: AttachedParts, model: string): Promise<string | undefined> {
  const { ports, client, session, view, left } = parts;
  const { terminal } = ports;
  if (!terminal.interactive) {
    terminal.err(`${session.id} · read-only, because there is no terminal to type on\n`);
    await view.ended;
    return undefined;
  }
  terminal.err(`${session.id} · ${visibleLine(model)} · attached on ${client.address} · /help for help\n`);
  const send = createResend(parts);
  const queue = async (text: string): Promise<void> => {
    await send(text, () => session.queue(text));
    view.finishLine();
    terminal.err(`${paint(terminal, "dim", `queued: ${visibleLine(text)}`)}\n`);
  };
  const words = attachedWords(parts, queue);
  const over = await converse({
    ports,
    session,
    view,
    words,
    added: addedWords(await client.slashCommands()),
    send: (text) => (view.isTurnRunning ? queue(text) : send(text, () => session.send(text))),
    left,
  });
  if (over.kind === "other") return over.session;
  const goesOn = `Detached. The session continues; to come back: harness attach ${session.id}\n`;
  terminal.err(over.kind === "ended" ? "The session has ended.\n" : goesOn);
  return undefined;
}

/** What a daemon adds to the words of every conversation. */
function attachedWords({ ports, client, session }: AttachedParts, queue: (text: string) => Promise<void>) {
  return {
    health: async () => ports.terminal.err("For the state of the daemon: harness daemon status\n"),
    queue: ({ text = "" }) => queue(text),
    steer: ({ text = "" }) => session.steer(text),
    cancel: () => session.cancel(),
    // Read before anything is carried out: it ends the conversation here.
    "sessions:resume": async () => undefined,
    async "sessions:list"() {
      const nowMs = ports.clock.now();
      const { terminal } = await ports.outward.through(ports, false);
      for (const info of await listedSessions({ client })) {
        terminal.err(`  ${await describe(client, info, nowMs)} · ${visibleLine(info.working_dir)}\n`);
      }
    },
  } satisfies SlashHandlers;
}

/**
 * A daemon has no terminal to ask on, and refuses a project that nobody has agreed to. Whoever is here is asked first: what they ack
 * holds for the daemon of the same user. On another machine the folder is another one.
 */
async function reviewProject(ports: CliPorts, { address }: Client, dir: string): Promise<void> {
  if (!ports.terminal.interactive || !address.startsWith("unix:") || !mayHaveProject(ports, { dir })) return;
  const { openTrustedProject } = await import("#program/trusted-project");
  await openTrustedProject(ports, { dir }, { review: reviewAt(ports) });
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
    throw new ReasonError("UsageInvalid", { detail });
  }
  if (flags.new) return newSession(parts);
  if (!flags.last) return offeredSession(parts);
  const last = await lastSession(parts);
  if (last === undefined) {
    throw new ReasonError("UsageInvalid", {
      detail: `the daemon has no session of ${parts.workingDir}; to start one, use --new`,
    });
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
