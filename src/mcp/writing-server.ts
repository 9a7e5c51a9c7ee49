/**
 * A server that may change the workspace does so like a command: each such call has a process of its own, which is there for nothing
 * else. So steering files are held while it runs, what it changed belongs to the call, and between calls nothing can change anything.
 */
import type { McpServer } from "#artifacts";
import { EffectError } from "#base";
import { type Connection, type ConnectOptions, connectServer } from "./connection.ts";
import type { McpWorld, ServerEnd } from "./mcp-world.ts";
import type { CalledServer } from "./server-call.ts";
import type { SupervisedServer } from "./supervised-server.ts";

/** After it was killed: the time in which it must be gone, and what it left must be checked. */
const CHECKED_GRACE_MS = 15_000;

export interface WritingServer {
  readonly connection: Connection;
  /** Resolves with how its processes ended, when they have; undefined when one did not in time. */
  close(): Promise<readonly ServerEnd[] | undefined>;
}

/** The user says of a tool that it changes nothing: then it needs no process of its own. */
export function mayWrite({ connection, readOnlyTools }: McpServer, tool: string): boolean {
  return connection.kind === "stdio" && (connection.writable ?? []).length > 0 && !readOnlyTools.includes(tool);
}

/** Rejects when it cannot be connected, and not before what was started has ended. */
export async function openWriting(
  options: Omit<ConnectOptions, "onToolsChanged" | "onPromptsChanged" | "hurry">,
  signal: AbortSignal,
): Promise<WritingServer> {
  const { clock } = options;
  const started: Promise<ServerEnd>[] = [];
  const start: McpWorld["start"] = async (server, on, given) => {
    const process = await options.world.start(server, on, given, true);
    started.push(process.ended);
    return process;
  };

  async function ended(): Promise<readonly ServerEnd[] | undefined> {
    const woken = new AbortController();
    const late = clock.sleep(CHECKED_GRACE_MS, woken.signal).then(() => undefined);
    const ends = await Promise.race([Promise.all(started), late]);
    woken.abort();
    return ends;
  }

  try {
    const connection = await connectServer(
      {
        ...options,
        world: { ...options.world, start },
        // When it is closed it has answered, and somebody waits.
        hurry: AbortSignal.abort(),
        onToolsChanged: () => undefined,
        onPromptsChanged: () => undefined,
      },
      signal,
    );
    return {
      connection,
      async close() {
        await connection.close();
        return ended();
      },
    };
  } catch (error) {
    await ended();
    throw error;
  }
}

/** Ends the process before it gives the result, and says what the process left that could not stay. */
export async function withWriting(
  supervised: SupervisedServer,
  call: (writing: Pick<SupervisedServer, "server" | "offer" | "waiting" | "connected">) => Promise<CalledServer>,
): Promise<CalledServer> {
  let writing: WritingServer | undefined;
  let called: CalledServer;
  try {
    called = await call({
      ...supervised,
      async connected(signal) {
        writing = await supervised.writing(signal);
        return writing.connection;
      },
    });
  } catch (error) {
    writing?.connection.kill("the call has ended");
    await writing?.close();
    throw error;
  }
  const ends = writing === undefined ? [] : await writing.close();
  const problem = ends === undefined ? "it did not end in time" : ends.find((end) => end.problem)?.problem;
  if (problem !== undefined) {
    const detail = `the MCP server '${supervised.server.name}' may have left something in the workspace that Harness could not check: ${problem}`;
    throw new EffectError("ServerUnavailable", detail);
  }
  const notes = (ends ?? []).flatMap(({ note }) => note ?? []);
  const { answer, ...rest } = called;
  const said = notes.map((note) => ({ type: "text", text: `[sandbox] ${note}` }));
  return { ...rest, answer: { ...answer, content: [...answer.content, ...said] } };
}
