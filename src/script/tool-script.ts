/** A tool artifact as a tool of the engine: its schema, its class, and one run of its script for each call. */

import type { ParameterSpec, ToolArtifact } from "#artifacts";
import { messageOf } from "#base";
import { type Tool, type ToolContext, ToolError, type ToolOutput } from "#engine";
import { StarlarkError, type Value } from "#starlark";
import { isRecord } from "./arguments.ts";
import { compileScript } from "./compiled-script.ts";
import { jsonText } from "./json-data.ts";
import { linkedSignal } from "./linked-signal.ts";
import { ScriptCall } from "./script-call.ts";
import { scriptFailure } from "./script-error.ts";
import type { ScriptServices } from "./services.ts";
import { toolClassOf } from "./tool-class.ts";

/** A script that never waits holds up everything else while it runs. */
const SYNC_TIMEOUT_MS = 5_000;
/** The chain ends a call earlier; this only bounds a tool without a limit of its own. */
const ASYNC_TIMEOUT_MS = 600_000;
const MAX_ERROR_SCAN_CHARS = 1_000_000;

/** Undefined when the artifact only declares the tool. Throws a StarlarkError when the script does not compile. */
export function toolOf(
  artifact: ToolArtifact,
  services: ScriptServices,
  predeclared: Readonly<Record<string, Value>>,
): Tool | undefined {
  const { name, description, script, timeoutMs, place } = artifact;
  if (script === undefined) return undefined;
  const compiled = compileScript(script, "run", predeclared);
  const source = `${place.file}:${place.line}`;
  const limited = timeoutMs !== undefined && timeoutMs > 0;
  const ceilingMs = compiled.program.isAsync ? ASYNC_TIMEOUT_MS : SYNC_TIMEOUT_MS;
  const runMs = limited ? Math.min(timeoutMs, ceilingMs) : ceilingMs;
  return {
    name,
    label: name,
    class: toolClassOf(compiled.program),
    description,
    parameters: parametersSchema(artifact.parameters),
    ...(limited && { timeoutMs }),
    ...(artifact.async && { isAsync: true }),
    async run(args, context) {
      const { signal, end } = linkedSignal(context.signal);
      const call = callOf(context, services, source);
      let isDone = false;
      try {
        const options = { host: call, signal, timeoutMs: runMs, print: (line: string) => call.log("info", line) };
        const output = outputOf(await compiled.run([args], options), name);
        isDone = true;
        return output;
      } catch (error) {
        if (context.signal.aborted || !(error instanceof StarlarkError)) throw error;
        if (error.limit === "time") throw new ToolError(`${name} took longer than ${runMs} ms.`, "ToolTimeout");
        return failed(scriptFailure(error));
      } finally {
        // What was launched and not waited for ends here, or is stopped when the script has failed.
        for (const { id, problem } of await call.tasks.settle(!isDone || context.signal.aborted)) {
          call.log("warn", `${id}, which nobody waited for, failed${problem === undefined ? "" : `: ${problem}`}`);
        }
        // Whatever the script was waiting for when its time was up must not go on without it.
        end();
      }
    },
  };
}

function callOf(context: ToolContext, services: ScriptServices, source: string): ScriptCall {
  const { session, turn, step, callId, depth, nesting, originator, ports } = context;
  return new ScriptCall({
    services,
    source,
    point: { session, turn, step, callId, depth, nesting, originator },
    files: ports.files,
    writable: ports.files,
    processes: ports.processes,
    web: ports.web,
    annotate: (attributes) => context.annotate(attributes),
    callTool: (name, args, options) => context.call(name, args, options),
  });
}

/** JSON Schema with the parameters in the order in which they are written. What is not declared passes. */
export function parametersSchema(parameters: readonly ParameterSpec[]): Readonly<Record<string, unknown>> {
  const required = parameters.filter((parameter) => parameter.required).map(({ name }) => name);
  return {
    type: "object",
    properties: Object.fromEntries(
      parameters.map(({ name, type, description }) => [
        name,
        { type, ...(description !== undefined && { description }) },
      ]),
    ),
    ...(required.length > 0 && { required }),
    additionalProperties: true,
  };
}

/** A string goes out as it is, anything else as JSON. `{"error": …}` marks a failure, in either form. */
function outputOf(value: unknown, name: string): ToolOutput {
  try {
    const text = typeof value === "string" ? value : jsonText(value);
    const isError = hasError(typeof value === "string" ? parsed(value) : value);
    return { content: [{ type: "text", text }], ...(isError && { isError: true }) };
  } catch (error) {
    return failed(`${name} returned what is not JSON: ${messageOf(error)}`);
  }
}

function hasError(value: unknown): boolean {
  if (!isRecord(value) || !Object.hasOwn(value, "error")) return false;
  const { error } = value;
  return error !== null && error !== undefined && error !== false && error !== "";
}

/** The object in a text that holds one; undefined for any other text. */
function parsed(text: string): unknown {
  if (text.length > MAX_ERROR_SCAN_CHARS || !/^\s*\{/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function failed(text: string): ToolOutput {
  return { content: [{ type: "text", text }], isError: true };
}
