/** Scripts on real ports in a temporary workspace, with services that write down what scripts say. */
import type { HookArtifact, ScriptSource, ToolArtifact } from "#artifacts";
import type { EffectPorts, WebPort } from "#base";
import type { Hook, HookCall, Tool, ToolContext, ToolOutput } from "#engine";
import { SessionId, TurnId } from "#protocol";
import { createRunStates, createScripts, type ScriptLine, type ScriptServices, type Scripts } from "#script";
import { createSystemClock, createSystemRandom } from "#world";
import { createTemporaryWorkspace, createToolContext, type TemporaryWorkspace } from "./temporary-workspace.ts";

export interface ScriptRig {
  readonly workspace: TemporaryWorkspace;
  readonly services: ScriptServices;
  readonly scripts: Scripts;
  readonly lines: ScriptLine[];
  readonly emitted: { readonly event: string; readonly payload: unknown }[];
  /** Runs `body` as the `run(args)` of a tool and gives what it returned, decoded. */
  evaluate(body: string, args?: Readonly<Record<string, unknown>>): Promise<unknown>;
  /** The same, as the model reads it. */
  output(body: string, args?: Readonly<Record<string, unknown>>, context?: Partial<ToolContext>): Promise<ToolOutput>;
}

export function createScriptRig(parts: Partial<ScriptServices> = {}, web?: WebPort): ScriptRig {
  const workspace = createTemporaryWorkspace(web);
  const lines: ScriptLine[] = [];
  const emitted: { event: string; payload: unknown }[] = [];
  const services: ScriptServices = {
    clock: createSystemClock(),
    random: createSystemRandom(),
    host: { args: ["harness", "run"], hostname: "box", platform: "linux" },
    states: createRunStates(),
    env: (name) => ({ EDITOR: "ed", API_KEY: "sk-live" })[name],
    secret: (name) => ({ TOKEN: "s3cr3t" })[name],
    log: (line) => void lines.push(line),
    emit: (event, payload) => void emitted.push({ event, payload }),
    maxCallDepth: 2,
    ...parts,
  };
  const scripts = createScripts(services);
  const output: ScriptRig["output"] = async (body, args = {}, context = {}) => {
    const tool = mustTool(scripts, toolArtifact(functionText("run(args)", body)));
    return tool.run(args, scriptContext(workspace.ports, context));
  };
  return {
    workspace,
    services,
    scripts,
    lines,
    emitted,
    output,
    async evaluate(body, args) {
      const { content, isError } = await output(body, args);
      const [block] = content;
      const text = block?.type === "text" ? block.text : "";
      if (isError === true) throw new Error(text);
      try {
        return JSON.parse(text);
      } catch {
        return text;
      }
    },
  };
}

/** Expressions are returned; anything with a newline or a `return` is a body. */
function functionText(head: string, body: string): string {
  const lines = /\n|^return\b/.test(body) ? body.split("\n") : [`return ${body}`];
  return [`def ${head}:`, ...lines.map((line) => `    ${line}`), ""].join("\n");
}

export function source(text: string, line = 5): ScriptSource {
  return { text, place: { file: ".harness/x.md", line, column: 3 } };
}

export function toolArtifact(script: string, fields: Partial<ToolArtifact> = {}): ToolArtifact {
  return {
    kind: "tool",
    name: "probe",
    place: { file: ".harness/x.md", line: 1, column: 1 },
    hash: "0",
    tier: "project",
    description: "probe",
    parameters: [],
    script: source(script),
    async: false,
    ...fields,
  };
}

export function hookArtifact(script: string, fields: Partial<HookArtifact> = {}): HookArtifact {
  return {
    kind: "hook",
    name: "guard",
    place: { file: ".harness/x.md", line: 1, column: 1 },
    hash: "0",
    tier: "project",
    event: "tool.pre",
    priority: 10,
    script: source(script),
    match: [],
    notMatch: [],
    ...fields,
  };
}

export function mustTool(scripts: Scripts, artifact: ToolArtifact): Tool {
  const tool = scripts.tool(artifact);
  if (tool === undefined) throw new Error("the artifact has no script");
  return tool;
}

export function hookFrom(scripts: Scripts, body: string, fields: Partial<HookArtifact> = {}): Hook {
  return scripts.hook(hookArtifact(functionText("handle(event, payload)", body), fields));
}

export function scriptContext(ports: EffectPorts, parts: Partial<ToolContext> = {}): ToolContext {
  return createToolContext(ports, {
    depth: 0,
    annotate: () => undefined,
    call: async () => ({ content: [] }),
    ...parts,
  });
}

export function hookCall(ports: EffectPorts, payload: unknown, parts: Partial<HookCall> = {}): HookCall {
  return {
    session: SessionId.from("01JZ0000000000000000000000"),
    turn: TurnId.from("01JZ0000000000000000000001"),
    depth: 0,
    nesting: 0,
    signal: new AbortController().signal,
    event: "tool.pre",
    payload,
    ports: { files: ports.files, web: ports.web, processes: ports.processes },
    annotate: () => undefined,
    ...parts,
  };
}
