/** Modules that have run: initialisation with their loads, and calls into them under limits. */
import { asStarlarkError, call, settle } from "./calls.ts";
import type { Mode } from "./compile/emitter.ts";
import { drive } from "./driver.ts";
import { fault, StarlarkError } from "./errors.ts";
import { toHost, toStarlarkLazily } from "./interop.ts";
import type { Linked, Program } from "./program.ts";
import type { Loaded, Modules } from "./runtime.ts";
import { Thread, type ThreadOptions } from "./thread.ts";
import { freeze } from "./values/freeze.ts";
import { decodeUtf8, encodeUtf8 } from "./values/utf8.ts";
import { Pending, type Value } from "./values/values.ts";

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
    const thread = new Thread(options);
    const { steps, finish } = new Initialisation(isAsync(graph) ? "generator" : "sync", thread).start(graph);
    if (steps !== null) await drive(thread, steps);
    return finish();
  } catch (e) {
    throw asStarlarkError(e).seal();
  }
}

/** As `init`, where neither the program nor its loader is asynchronous. */
export function initSync(program: Program, options: ThreadOptions = {}): Instance {
  try {
    const graph = resolveGraphSync(program, new Map(), []);
    if (isAsync(graph)) throw new StarlarkError("internal", "the program names asynchronous built-ins: use init");
    return new Initialisation("sync", new Thread(options)).start(graph).finish();
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

/** One initialisation of a program and all it loads, on one thread and in one mode. */
class Initialisation {
  private readonly mode: Mode;
  private readonly thread: Thread;
  /** What each module that has run exports, or why it failed. */
  private readonly made = new Map<Program, Loaded>();

  constructor(mode: Mode, thread: Thread) {
    this.mode = mode;
    this.thread = thread;
  }

  /** Runs the top level; in generator mode it is left pending. */
  start(graph: Graph): { steps: Generator<unknown, Value, Value> | null; finish: () => Instance } {
    const { program } = graph;
    const linked = program.link(this.mode, this.modulesOf(graph));
    const result = linked.top(this.thread);
    // In generator mode the top level returns a generator where its type says Value.
    const steps = this.mode === "generator" ? (result as unknown as Generator<unknown, Value, Value>) : null;
    return { steps, finish: () => this.finish(program, linked) };
  }

  private finish(program: Program, linked: Linked): Instance {
    const values = linked.all();
    const globals = new Map<string, Value>();
    program.globals.forEach(({ name, exported }, i) => {
      const v = values[i];
      freeze(v);
      if (exported && v !== undefined) globals.set(name, v);
    });
    this.made.set(program, globals);
    return makeInstance(program, this.mode, globals, this.thread.steps);
  }

  private modulesOf(graph: Graph): Modules {
    return {
      run: (name) => {
        const part = graph.loads.get(name);
        if (part === undefined || part instanceof StarlarkError || this.made.has(part.program)) return null;
        if (this.mode === "generator") return new Pending(this.stepsOf(part));
        try {
          this.start(part).finish();
        } catch (e) {
          this.made.set(part.program, asStarlarkError(e));
        }
        return null;
      },
      get: (name) => {
        const part = graph.loads.get(name);
        return part === undefined || part instanceof StarlarkError ? part : this.made.get(part.program);
      },
    };
  }

  /** Runs a module inside the generator that loads it; a failure is kept for the statement that asks for it. */
  private *stepsOf(part: Graph): Generator<unknown, Value, Value> {
    try {
      const { steps, finish } = this.start(part);
      if (steps !== null) yield* steps;
      finish();
    } catch (e) {
      this.made.set(part.program, asStarlarkError(e));
    }
    return null;
  }
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
