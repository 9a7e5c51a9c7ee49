/** Modules that have run: initialisation with their loads, and calls into them under limits. */
import { asStarlarkError, call, settle } from "./calls.ts";
import { drive } from "./driver.ts";
import type { Mode } from "./emitter.ts";
import { fault, StarlarkError } from "./errors.ts";
import { freeze } from "./freeze.ts";
import { toHost, toStarlarkLazily } from "./interop.ts";
import type { Program } from "./program.ts";
import type { Loaded } from "./runtime.ts";
import { Thread, type ThreadOptions } from "./thread.ts";
import { decodeUtf8, encodeUtf8 } from "./utf8.ts";
import { Pending, type Value } from "./values.ts";

/** Modules that load one another in a chain. */
const MAX_LOAD_DEPTH = 100;

/** A frozen module. Calls on it do not see one another and may interleave. */
export interface Instance {
  readonly program: Program;
  /** Steps its initialisation took. */
  readonly steps: number;
  /** Exported names. */
  readonly names: readonly string[];
  /** The value of an exported name, or undefined. */
  get(name: string): Value | undefined;
  /** Calls an exported function. Arguments are converted from host data, the result to it. */
  call(name: string, args: readonly unknown[], options?: ThreadOptions): Promise<unknown>;
  /** As `call`, for programs that name nothing asynchronous. */
  callSync(name: string, args: readonly unknown[], options?: ThreadOptions): unknown;
  /** Calls with values of the language, on a thread of the caller's: for hosts that meter several calls as one. */
  callValue(f: Value, args: readonly Value[], thread: Thread): Value | Promise<Value>;
}

interface Graph {
  readonly program: Program;
  readonly loads: ReadonlyMap<string, Graph | StarlarkError>;
}

/** Loads what the program needs, runs its top level once and freezes the result. */
export async function init(program: Program, options: ThreadOptions = {}): Promise<Instance> {
  try {
    const graph = await resolveGraph(program, new Map(), []);
    const mode = isAsync(graph) ? "generator" : "sync";
    const thread = new Thread(options);
    const made = new Map<Program, Instance | StarlarkError>();
    return await instantiateAsync(graph, mode, thread, made);
  } catch (e) {
    throw asStarlarkError(e).seal();
  }
}

/** As `init`, where neither the program nor its loader is asynchronous. */
export function initSync(program: Program, options: ThreadOptions = {}): Instance {
  try {
    const graph = resolveGraphSync(program, new Map(), []);
    if (isAsync(graph)) throw new StarlarkError("internal", "the program names asynchronous built-ins: use init");
    return instantiateSync(graph, new Thread(options), new Map());
  } catch (e) {
    throw asStarlarkError(e).seal();
  }
}

type Graphs = Map<Program, Graph | StarlarkError>;

function cycle(program: Program, path: readonly Program[]): StarlarkError | null {
  if (path.includes(program)) return fault("cycle in load graph");
  return path.length > MAX_LOAD_DEPTH ? fault("load graph is too deep") : null;
}

async function resolveGraph(program: Program, known: Graphs, path: readonly Program[]): Promise<Graph> {
  const loads = new Map<string, Graph | StarlarkError>();
  for (const module of program.loads) {
    if (program.load === null || program.load === undefined || loads.has(module)) continue;
    try {
      const found = await program.load(decodeUtf8(module), program);
      const bad = cycle(found, [...path, program]);
      const graph = bad ?? known.get(found) ?? (await resolveGraph(found, known, [...path, program]));
      known.set(found, graph);
      loads.set(module, graph);
    } catch (e) {
      loads.set(module, loadFailure(e));
    }
  }
  return { program, loads };
}

function resolveGraphSync(program: Program, known: Graphs, path: readonly Program[]): Graph {
  const loads = new Map<string, Graph | StarlarkError>();
  for (const module of program.loads) {
    if (program.load === null || program.load === undefined || loads.has(module)) continue;
    try {
      const found = program.load(decodeUtf8(module), program);
      if (found instanceof Promise) throw new StarlarkError("internal", "the loader is asynchronous: use init");
      const bad = cycle(found, [...path, program]);
      const graph = bad ?? known.get(found) ?? resolveGraphSync(found, known, [...path, program]);
      known.set(found, graph);
      loads.set(module, graph);
    } catch (e) {
      loads.set(module, loadFailure(e));
    }
  }
  return { program, loads };
}

function loadFailure(e: unknown): StarlarkError {
  if (e instanceof StarlarkError) return e;
  return fault(encodeUtf8(e instanceof Error ? e.message : String(e)));
}

function isAsync(graph: Graph, seen = new Set<Graph>()): boolean {
  if (seen.has(graph)) return false;
  seen.add(graph);
  if (graph.program.isAsync) return true;
  return [...graph.loads.values()].some((g) => !(g instanceof StarlarkError) && isAsync(g, seen));
}

type Made = Map<Program, Instance | StarlarkError>;

async function instantiateAsync(graph: Graph, mode: Mode, thread: Thread, made: Made): Promise<Instance> {
  const modules = new Map<string, Loaded>();
  for (const [name, part] of graph.loads) {
    if (!(part instanceof StarlarkError) && !made.has(part.program)) {
      made.set(part.program, await instantiateAsync(part, mode, thread, made).catch(asStarlarkError));
    }
    modules.set(name, exportsOf(part, made));
  }
  const run = start(graph.program, mode, modules, thread);
  if (run.pending !== null) await drive(thread, settle(run.pending));
  return run.finish();
}

function instantiateSync(graph: Graph, thread: Thread, made: Made): Instance {
  const modules = new Map<string, Loaded>();
  for (const [name, part] of graph.loads) {
    if (!(part instanceof StarlarkError) && !made.has(part.program)) {
      try {
        made.set(part.program, instantiateSync(part, thread, made));
      } catch (e) {
        made.set(part.program, asStarlarkError(e));
      }
    }
    modules.set(name, exportsOf(part, made));
  }
  return start(graph.program, "sync", modules, thread).finish();
}

function exportsOf(part: Graph | StarlarkError, made: Made): Loaded {
  const instance = part instanceof StarlarkError ? part : made.get(part.program);
  if (instance === undefined || instance instanceof StarlarkError) return instance ?? fault("module did not run");
  return new Map(instance.names.map((n) => [encodeUtf8(n), instance.get(n) ?? null]));
}

/** Runs the top level; in generator mode it is left pending. */
function start(
  program: Program,
  mode: Mode,
  modules: ReadonlyMap<string, Loaded>,
  thread: Thread,
): { pending: Pending | null; finish: () => Instance } {
  const linked = program.link(mode, modules);
  const result = linked.top(thread);
  // In generator mode the top level returns a generator where its type says Value.
  const steps = mode === "generator" ? (result as unknown as Generator<unknown, Value, Value>) : null;
  return {
    pending: steps === null ? null : new Pending(steps),
    finish() {
      const values = linked.all();
      const globals = new Map<string, Value>();
      program.globals.forEach(({ name, exported }, i) => {
        const v = values[i];
        freeze(v);
        if (exported && v !== undefined) globals.set(name, v);
      });
      return makeInstance(program, mode, globals, thread.steps);
    },
  };
}

function makeInstance(program: Program, mode: Mode, globals: ReadonlyMap<string, Value>, steps: number): Instance {
  const find = (name: string): Value => {
    const f = globals.get(encodeUtf8(name));
    if (f === undefined) throw fault(encodeUtf8(`module has no function ${name}`));
    return f;
  };
  const sync = (name: string, args: readonly unknown[], options: ThreadOptions): unknown => {
    try {
      const inputs = args.map(toStarlarkLazily);
      const result = call(new Thread(options), find(name), inputs);
      if (result instanceof Pending) {
        throw new StarlarkError("internal", "the program names asynchronous built-ins: use call");
      }
      return toHost(result);
    } catch (e) {
      throw asStarlarkError(e).seal();
    }
  };
  return {
    program,
    steps,
    names: [...globals.keys()].map(decodeUtf8),
    get: (name) => globals.get(encodeUtf8(name)),
    async call(name, args, options = {}) {
      if (mode === "sync") return sync(name, args, options);
      try {
        const thread = new Thread(options);
        if (thread.signal?.aborted) thread.checkClock();
        const result = call(thread, find(name), args.map(toStarlarkLazily));
        return toHost(result instanceof Pending ? await drive(thread, settle(result)) : result);
      } catch (e) {
        throw asStarlarkError(e).seal();
      }
    },
    callSync: (name, args, options = {}) => sync(name, args, options),
    callValue(f, args, thread) {
      const result = call(thread, f, args);
      return result instanceof Pending ? drive(thread, settle(result)) : result;
    },
  };
}
