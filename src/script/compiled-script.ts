/**
 * A script of an artifact, compiled once and run often. Each run behaves as if the module were fresh: a module whose top level
 * calls something is initialised anew for each run, any other one is frozen and shared.
 */
import type { ScriptSource } from "#artifacts";
import { compile, type Instance, type Program, type ThreadOptions, type Value } from "#starlark";

export interface CompiledScript {
  readonly program: Program;
  /** Only where the program names nothing asynchronous. */
  runSync(args: readonly unknown[], options: ThreadOptions): unknown;
  run(args: readonly unknown[], options: ThreadOptions): Promise<unknown>;
}

export function compileSource(source: ScriptSource, predeclared: Readonly<Record<string, Value>>): Program {
  const { place, text } = source;
  return compile(text, place.file, { predeclared, firstLine: place.line, firstColumn: place.column });
}

/** Throws a StarlarkError with all static errors of the script. */
export function compileScript(
  source: ScriptSource,
  entry: string,
  predeclared: Readonly<Record<string, Value>>,
): CompiledScript {
  const program = compileSource(source, predeclared);
  let shared: Instance | undefined;
  let pending: Promise<Instance> | undefined;
  const share = (): boolean => !program.callsAtTop;
  const instanceSync = (options: ThreadOptions): Instance => {
    if (!share()) return program.initSync(options);
    shared ??= program.initSync(options);
    return shared;
  };
  const instance = async (options: ThreadOptions): Promise<Instance> => {
    if (!share()) return program.init(options);
    // A shared module calls nothing, so it needs no run's signal and no run's host.
    const { timeoutMs, maxSteps, maxAllocBytes } = options;
    const limits = {
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(maxSteps !== undefined && { maxSteps }),
      ...(maxAllocBytes !== undefined && { maxAllocBytes }),
    };
    pending ??= program.init(limits);
    try {
      return await pending;
    } catch (error) {
      // The next run may have more time.
      pending = undefined;
      throw error;
    }
  };
  return {
    program,
    runSync: (args, options) => instanceSync(options).callSync(entry, args, options),
    run: async (args, options) => (await instance(options)).call(entry, args, options),
  };
}
