/** A session of this process, driven from the terminal by a client like any other. */
import { defined } from "#base";
import type { ClientSession } from "#client";
import { connectEngine } from "#client/engine";
import { closeProgram, type OpenedProgram, type OpenOptions, openProgram, type RunFlags, tellOffline } from "#program";
import { type Command, type InputBlock, ReasonError, type SessionId, type TurnId } from "#protocol";
import { createSystemRandom } from "#world";
import type { CliPorts } from "./cli-ports.ts";
import { converse, type Left } from "./conversation.ts";
import { handleInterrupts } from "./interrupt.ts";
import { type EndedTurn, type OutputMode, openSessionView, type SessionView } from "./session-view.ts";
import { approvingWords } from "./slash-words.ts";

export interface CliSessionOptions {
  readonly output: OutputMode;
  /** The session to go on with, which works where it did. */
  readonly resume?: SessionId;
  /** The profile that a flag names: a session with another one is not resumed with it. */
  readonly profile?: string;
  /** False: nobody is asked, also on a terminal. */
  readonly interactive?: boolean;
  /** Called on the second Ctrl-C; the first one cancels the turn. Absent where the command sees to that itself. */
  readonly exit?: () => void;
}

export interface CliSession extends Pick<ClientSession, "id" | "setModel"> {
  /** Resolves when the turn has ended. Rejects when the input was refused or the log could not be written. */
  send(input: string | readonly InputBlock[]): Promise<EndedTurn>;
  /** Submits the commands of a cassette; each is carried out at its time. The last turn, or the first that went wrong. */
  replay(commands: readonly Command[]): Promise<EndedTurn | undefined>;
  converse(left: AbortSignal): Promise<Left>;
  /** Nothing when no turn runs. */
  cancel(): void;
  finishLine(): void;
}

/**
 * Opens the program for `work`, which opens a session in it. Ends all sessions then, and returns when what has happened in the one
 * of `work` is shown.
 */
export async function withProgram<Result>(
  ports: CliPorts,
  options: OpenOptions,
  work: (program: OpenedProgram, open: (options: CliSessionOptions) => Promise<CliSession>) => Promise<Result>,
): Promise<Result> {
  const { terminal, clock } = ports;
  const program = await openProgram(ports, options);
  // The full interface says what to do about it.
  if (ports.early === undefined) tellOffline(ports, program.harness);
  const closed = new AbortController();
  let shown: Promise<void> | undefined;
  let stopListening = (): void => undefined;
  try {
    return await work(program, async ({ exit, ...wanted }) => {
      const { ended, ...session } = await openSession(ports, program, wanted, options.flags, closed.signal);
      // Whoever waits for something in it is told. A session that was left stays open until the program ends.
      shown = Promise.all([shown, ended.catch(() => undefined)]).then(() => undefined);
      stopListening();
      if (exit !== undefined) stopListening = handleInterrupts({ terminal, clock, cancel: session.cancel, exit });
      return session;
    });
  } finally {
    stopListening();
    // The session of a replay is in no log.
    const isReplay = options.cassette !== undefined && "replay" in options.cassette;
    try {
      await closeProgram(ports, program, isReplay ? { store: "memory" } : options.flags);
    } finally {
      closed.abort();
      await shown;
    }
  }
}

/** Resolves when the session is open and what it has done to begin is shown. */
async function openSession(
  ports: CliPorts,
  { harness, workspace }: OpenedProgram,
  { output, resume, profile, ...options }: CliSessionOptions,
  flags: Pick<RunFlags, "set" | "config">,
  signal: AbortSignal,
): Promise<CliSession & Pick<SessionView, "ended">> {
  const { terminal, clock } = ports;
  const interactive = terminal.interactive && output === "stream" && options.interactive !== false;
  const client = connectEngine({ engine: harness, interactive, clock, random: createSystemRandom() });
  const since = resume === undefined ? 0 : (await client.session(resume).info()).last_event_id;
  const created = await client.submit({
    kind: "CreateSession",
    ...(resume === undefined ? { working_dir: workspace } : { resume }),
    ...defined({ context: flags.set, profile }),
  });
  const session = client.session(created.session);
  const view = openSessionView({
    ports,
    client,
    session,
    output,
    interactive,
    since,
    last: since,
    isHere: true,
    signal,
  });
  await view.reached((await session.info()).last_event_id);
  let isRunning = false;

  async function turnOf(start: () => Promise<{ readonly turn: TurnId }>): Promise<EndedTurn> {
    await view.idle();
    isRunning = true;
    try {
      const { turn } = await start();
      return await view.turn(turn);
    } finally {
      isRunning = false;
    }
  }

  const send = (input: string | readonly InputBlock[]): Promise<EndedTurn> => turnOf(() => session.send(input));

  async function replay(commands: readonly Command[]): Promise<EndedTurn | undefined> {
    const replies = commands.map(async (command) => {
      const reply = await client.submit(command);
      return "turn" in reply ? view.turn(reply.turn) : undefined;
    });
    let last: EndedTurn | undefined;
    for (const reply of await Promise.allSettled(replies)) {
      // One that was refused in the recording is refused again, and the recording went on.
      const reason: unknown = reply.status === "rejected" ? reply.reason : undefined;
      if (reason instanceof ReasonError && reason.reason === "CassetteMismatch") throw reason;
      const ended = reply.status === "fulfilled" ? reply.value : undefined;
      if (last?.reason !== "CassetteMismatch") last = ended ?? last;
    }
    return last;
  }

  return {
    id: session.id,
    setModel: session.setModel,
    send,
    replay,
    cancel() {
      if (isRunning) void session.cancel();
    },
    ended: view.ended,
    converse: (left) =>
      converse({
        ports,
        session,
        view,
        words: approvingWords(ports, session, flags.config),
        send,
        runCommand: (command) => turnOf(() => session.submit({ kind: "RunShellCommand", command })),
        left,
      }),
    finishLine: () => view.finishLine(),
  };
}
