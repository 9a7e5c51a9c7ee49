/** A workspace with undo around the real tools, without a model: calls are made by hand. For tests and benchmarks. */
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, compose, createUlidFactory, noServers } from "#base";
import { type CallResult, createRunTool, type ToolCall } from "#engine";
import { type CallId, ClientId, createIdMint, type SessionId, type TurnId } from "#protocol";
import { createBuiltinTools } from "#tools";
import {
  createUndoRecorder,
  createUndoStore,
  redo,
  type UndoLimits,
  type UndoReport,
  type UndoRequest,
  type UndoStoreOptions,
  undo,
  type WorkspaceUndo,
} from "#undo";
import {
  createProcesses,
  createPublicWeb,
  createSystemClock,
  createSystemRandom,
  createWorkspaceFiles,
  createWorkspaceRestore,
} from "#world";
import { noMemory } from "./no-memory.ts";
import { ALLOWED, createOpenGate, createUnwrittenLedger } from "./passed-gate.ts";

export interface UndoRig {
  readonly root: string;
  readonly storeDirectory: string;
  readonly key: Buffer;
  readonly session: SessionId;
  readonly workspace: WorkspaceUndo;
  /** Calls from now on belong to a new turn. */
  newTurn(): TurnId;
  mintCall(): CallId;
  call(
    tool: string,
    args: Readonly<Record<string, unknown>>,
    signal?: AbortSignal,
  ): Promise<CallResult & { readonly id: CallId }>;
  undo(request?: Partial<UndoRequest>): Promise<UndoReport>;
  redo(request?: Partial<UndoRequest>): Promise<UndoReport>;
  dispose(): void;
}

export interface UndoRigOptions {
  readonly limits?: Partial<UndoLimits>;
  readonly clock?: Clock;
  readonly settled?: UndoStoreOptions["settled"];
  /** False: the same calls without undo, to compare with. */
  readonly record?: boolean;
  /** Another rig on the same workspace and store, as a later run of the program is. */
  readonly after?: UndoRig;
  readonly key?: Buffer;
}

export function createUndoRig(options: UndoRigOptions = {}): UndoRig {
  const {
    limits = {},
    clock = createSystemClock(),
    settled = () => clock.now(),
    record = true,
    after,
    key = Buffer.alloc(32, 7),
  } = options;
  const base =
    after === undefined ? realpathSync(mkdtempSync(join(tmpdir(), "harness-undo-"))) : join(after.root, "..");
  const root = join(base, "workspace");
  const storeDirectory = join(base, "undo");
  mkdirSync(root, { recursive: true });
  const ids = createIdMint(createUlidFactory({ clock: createSystemClock(), random: createSystemRandom() }));
  const session = ids.session();
  let turn = ids.turn();
  const store = createUndoStore({ directory: storeDirectory, key, clock, limits, settled });
  const files = createWorkspaceFiles(root);
  const ports = {
    files,
    processes: createProcesses({ root, env: process.env }),
    web: createPublicWeb(),
    servers: noServers,
    memory: noMemory,
  };
  const tools = createBuiltinTools(createSystemClock()).tools();
  const handler = compose<ToolCall, CallResult>(
    [createUnwrittenLedger(), ...(record ? [createUndoRecorder(store, files)] : []), createOpenGate(ports)],
    createRunTool({ ask: async () => undefined, nested: async () => Promise.reject(new Error("not here")) }),
  );
  const workspace = store.workspace(root);
  const port = createWorkspaceRestore(root);
  return {
    root,
    storeDirectory,
    key,
    session,
    workspace,
    newTurn() {
      turn = ids.turn();
      return turn;
    },
    mintCall: () => ids.call(),
    async call(name, args, signal = new AbortController().signal) {
      const tool = tools.find((candidate) => candidate.name === name);
      if (tool === undefined) throw new Error(`no tool ${name}`);
      const id = ids.call();
      const originator = ClientId.from(session.slice(5));
      const result = await handler({
        id,
        session,
        turn,
        step: 1,
        originator,
        tool,
        args,
        signal,
        depth: 0,
        nesting: 0,
        judged: ALLOWED,
        annotate: () => undefined,
        progress: () => undefined,
      });
      return { ...result, id };
    },
    undo: (request) => undo({ workspace, port, target: "last", ...request }),
    redo: (request) => redo({ workspace, port, target: "last", ...request }),
    dispose: () => rmSync(base, { recursive: true, force: true }),
  };
}

/** Every entry below `root` by path: kind, mode, and content or target. */
export function readTree(root: string): Map<string, string> {
  const tree = new Map<string, string>();
  const walk = (directory: string): void => {
    for (const name of readdirSync(join(root, directory)).sort()) {
      const path = directory === "" ? name : `${directory}/${name}`;
      const info = lstatSync(join(root, path));
      const mode = (info.mode & 0o7777).toString(8);
      if (info.isSymbolicLink()) tree.set(path, `link ${readlinkSync(join(root, path))}`);
      else if (info.isDirectory()) {
        tree.set(path, `directory ${mode}`);
        walk(path);
      } else tree.set(path, `file ${mode} ${readFileSync(join(root, path)).toString("base64")}`);
    }
  };
  walk("");
  return tree;
}
