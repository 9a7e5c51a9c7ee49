/**
 * The ports of a session behind a tape. Files are real in both directions: the workspace belongs to the case, not to the cassette.
 * Programs and the web are recorded, and with a program what it changed in the workspace.
 */
import { isAbsolute } from "node:path";
import {
  EffectError,
  type EffectPorts,
  type FilePort,
  type ProcessExit,
  type ProcessPort,
  type ProgramFacts,
  type ServerAnswer,
  type ServerAsk,
  type ServerCall,
  type ServerPort,
  type ServerReply,
  type ServerResource,
  type WebPort,
  type WebRequest,
  type WebResponse,
} from "#base";
import { type Bytes, bytesOf, toBytes } from "./bytes.ts";
import type { Tape } from "./tape.ts";
import type { WorkspaceChange, WorkspaceChanges } from "./workspace-changes.ts";

export interface TapedPortsOptions {
  readonly tape: Tape;
  readonly session: string;
  /** Where the session believes its files are; real in a recording. */
  readonly root: string;
  readonly ports: EffectPorts;
  readonly changes: WorkspaceChanges;
  /** Throws for a host that may not be reached: the list in force counts, also in a replay. */
  readonly allowed: (url: URL) => void;
}

export function tapedPorts({ tape, session, root, ports, changes, allowed }: TapedPortsOptions): EffectPorts {
  return {
    files: tapedFiles(tape, root, ports.files),
    processes: tapedProcesses(tape, session, ports.processes, changes),
    web: tapedWeb(tape, session, ports.web, allowed),
    servers: tapedServers(tape, session, ports.servers),
    // What is behind it is taped where it is read.
    memory: ports.memory,
  };
}

/** Times of files and sizes of folders are not the same on two machines: the start of the recording, and 0. */
function tapedFiles(tape: Tape, root: string, files: FilePort): FilePort {
  const modifiedMs = Date.parse(tape.head.started);
  // As the workspace was called when it was recorded.
  const roots = [root, tape.head.root, tape.head.workspace];
  const here = (path: string): string => {
    if (!isAbsolute(path)) return path;
    if (roots.includes(path)) return ".";
    const above = roots.find((folder) => path.startsWith(`${folder}/`));
    return above === undefined ? path : `./${path.slice(above.length + 1)}`;
  };
  /** A refusal names the workspace, by the name that the session knows. */
  const inside = <Result>(work: () => Promise<Result>): Promise<Result> =>
    tape.inside(async () => {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof EffectError)) throw error;
        throw new EffectError(error.reason, error.message.replaceAll(files.root, root), { cause: error });
      }
    });
  return {
    root,
    hidden: files.hidden ?? [],
    locate: (path) => inside(() => files.locate(here(path))),
    stat: (path) =>
      inside(async () => {
        const info = await files.stat(here(path));
        return info && { ...info, modifiedMs, ...(info.kind === "directory" ? { sizeBytes: 0 } : {}) };
      }),
    read: (path, maxBytes) => inside(() => files.read(here(path), maxBytes)),
    list: (path) => inside(() => files.list(here(path))),
    write: (path, content) => inside(() => files.write(here(path), content)),
    makeDirectory: (path) => inside(() => files.makeDirectory(here(path))),
    move: (from, to) => inside(() => files.move(here(from), here(to))),
    remove: (path, options) => inside(() => files.remove(here(path), options)),
  };
}

/** `started` has no bytes: it says when a command that goes on beside the turns began. */
type Output = readonly ["stdout" | "stderr" | "started", Bytes];

interface Ran {
  readonly exit: ProcessExit;
  readonly files?: readonly WorkspaceChange[];
}

function tapedProcesses(tape: Tape, session: string, processes: ProcessPort, changes: WorkspaceChanges): ProcessPort {
  return {
    async run(spec, signal) {
      const { onOutput, onStarted, monitor: _, file, ...asked } = spec;
      const { exit, files = [] } = await tape.exchange<Output, Ran>({
        of: "process",
        session,
        // One of ours is named, not located: where it lies is not the same everywhere.
        request: { file: spec.ownProgram ? file.slice(file.lastIndexOf("/") + 1) : file, ...asked },
        hear: ([stream, bytes]) => (stream === "started" ? onStarted?.() : onOutput?.(stream, bytesOf(bytes))),
        async live(say) {
          // The search and a command that nobody was asked about change nothing.
          const isReader = spec.ownProgram === true || spec.confinement === "reader";
          const before = isReader ? undefined : await changes.look();
          const heard = (stream: "stdout" | "stderr", chunk: Buffer): void => void say([stream, toBytes(chunk)]);
          const begun = onStarted && { onStarted: () => void say(["started", toBytes(Buffer.alloc(0))]) };
          const exit = await processes.run({ ...spec, ...begun, onOutput: heard }, signal);
          const changed = before === undefined ? [] : await changes.since(before);
          return changed.length === 0 ? { exit } : { exit, files: changed };
        },
      });
      if (files.length > 0) {
        await tape.inside(async () => {
          if (tape.mode === "replay") await changes.make(files);
        });
      }
      return exit;
    },
  };
}

type Answer = Omit<WebResponse, "body"> & { readonly body: Bytes };

function tapedWeb(tape: Tape, session: string, web: WebPort, allowed: TapedPortsOptions["allowed"]): WebPort {
  async function ask(
    method: "GET" | "POST",
    { onHop, ...request }: WebRequest & { readonly body?: Uint8Array },
    live: (hop: (url: string) => Promise<void>) => Promise<WebResponse>,
  ): Promise<WebResponse> {
    const { body, ...asked } = request;
    if (URL.canParse(request.url)) allowed(new URL(request.url));
    const answer = await tape.exchange<string, Answer>({
      of: "web",
      session,
      request: { method, ...asked, ...(body === undefined ? {} : { body: toBytes(body) }) },
      hear: (url) => onHop?.(url),
      async live(say) {
        const response = await live(say);
        return { ...response, body: toBytes(response.body) };
      },
    });
    return { ...answer, body: bytesOf(answer.body) };
  }
  return {
    get: (request, signal) => ask("GET", request, (onHop) => web.get({ ...request, onHop }, signal)),
    post: (request, signal) => ask("POST", request, (onHop) => web.post({ ...request, onHop }, signal)),
  };
}

/** Progress, or a question of the server with the number by which its answer finds the way back. */
type Said = string | { readonly asked: ServerAsk; readonly number: number };
type Heard = Pick<ServerCall, "onProgress" | "onAsk">;

function tapedServers(tape: Tape, session: string, servers: ServerPort): ServerPort {
  async function ask<Request extends Heard>(
    { onProgress, onAsk, ...request }: Request,
    send: (heard: Heard) => Promise<ServerAnswer>,
  ): Promise<ServerAnswer> {
    const over = new AbortController();
    const waiting = new Map<number, (reply: ServerReply) => void>();
    try {
      return await tape.exchange<Said, ServerAnswer>({
        of: "server",
        session,
        request,
        hear(said) {
          if (typeof said === "string") onProgress?.(said);
          // Not awaited: the answer of a person comes later on the tape.
          else void onAsk?.(said.asked, over.signal).then((reply) => waiting.get(said.number)?.(reply));
        },
        live: (say) =>
          send({
            onProgress: (text) => void say(text),
            ...(onAsk !== undefined && {
              async onAsk(asked) {
                const { promise, resolve } = Promise.withResolvers<ServerReply>();
                const number = waiting.size;
                waiting.set(number, resolve);
                await say({ asked, number });
                return promise;
              },
            }),
          }),
      });
    } finally {
      over.abort();
    }
  }
  const list = <Entry>(request: object, live: () => Promise<readonly Entry[]>): Promise<readonly Entry[]> =>
    tape.exchange<never, readonly Entry[]>({ of: "server", session, request, hear: () => undefined, live });
  return {
    call: (request, signal) => ask(request, (heard) => servers.call({ ...request, ...heard }, signal)),
    read: (request, signal) => ask(request, (heard) => servers.read({ ...request, ...heard }, signal)),
    prompt: (request, signal) => ask(request, (heard) => servers.prompt({ ...request, ...heard }, signal)),
    resources: (server, timeoutMs, signal) =>
      list<ServerResource>({ resources: server }, () => servers.resources(server, timeoutMs, signal)),
    complete: (completion, signal) =>
      list<string>({ complete: completion }, () => servers.complete(completion, signal)),
  };
}

/** What a program's name means on the machine of the recording. */
export function tapedFacts(tape: Tape, session: string, facts: ProgramFacts): ProgramFacts {
  const fact = (name: string, about: string, read: () => string): string =>
    tape.fact({ session, name }, about, read) ?? "";
  return {
    program: (name, cwd) => fact("program", `${name} in ${cwd}`, () => facts.program(name, cwd)),
    environment: () => fact("environment", "child", () => facts.environment()),
  };
}
