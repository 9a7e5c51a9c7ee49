/**
 * Tool middleware: hands a call its effect ports, bound to its ticket. They refuse once the call has ended, was cancelled or
 * changed, when the ticket has expired, and when what a person approved is not what is there; a read-only tool gets no port
 * that changes anything. Without this step a tool cannot have an effect.
 */
import {
  type Clock,
  type Confinement,
  EffectError,
  type EffectPorts,
  type Memory,
  type ProcessSpec,
  SAMPLE_TOOL,
} from "#base";
import {
  type EffectNote,
  type ModelQuestions,
  refusal,
  type Ticket,
  type ToolCall,
  type ToolMiddleware,
} from "#engine";
import type { InnerEffect, InnerJudgement } from "./inner-effects.ts";
import { gatedMemory } from "./memory-gate.ts";
import { hostOf, type NetworkJudgement, recorded } from "./network-record.ts";
import { gatedServers } from "./server-gate.ts";

export interface GateOptions {
  readonly ports: EffectPorts;
  readonly clock: Pick<Clock, "monotonicMs">;
  /** Names the rules and files in force. */
  readonly policyVersion: () => string;
  /** Why an effect of a tool that is not built in may not happen, or where its command runs. */
  readonly judgeEffect: (call: ToolCall, effect: InnerEffect) => Promise<InnerJudgement>;
  /** Told of each host that a call wanted to reach. */
  readonly onNetwork: (call: ToolCall, judged: NetworkJudgement) => void;
  /** Asks the model of the session on behalf of a call. */
  readonly askModel?: ModelQuestions["ask"];
  /** Told of the memories that a call has read. */
  readonly onRecall: (call: ToolCall, memories: readonly Memory[]) => void;
  /** Whether the call itself is the effect and was judged as that. */
  readonly isJudgedWhole: (call: ToolCall) => boolean;
}

export function createGate(options: GateOptions): ToolMiddleware {
  return async (call, next) => {
    const { ticket } = call;
    if (ticket === undefined) return refusal("denied", "InternalError", "The call reached the gate without a ticket.");
    return next({ ...call, ports: bind(options, call, ticket) });
  };
}

function bind(
  { ports, clock, policyVersion, onNetwork, onRecall, askModel, ...permission }: GateOptions,
  call: ToolCall,
  ticket: Ticket,
): EffectPorts {
  const { files, processes, web, servers, memory } = ports;
  const isWhole = permission.isJudgedWhole(call);
  let rechecked: Promise<void> | undefined;
  function check(): void {
    const refuse = (why: string): never => {
      throw new EffectError("AccessDenied", why);
    };
    if (!ticket.isOpen) refuse(`call ${call.id} has ended; its ports are closed`);
    if (call.signal.aborted) throw new EffectError("Cancelled", "the call was cancelled");
    // Written so that a clock that gives nonsense refuses.
    if (!(clock.monotonicMs() <= ticket.expiresMs)) refuse(`the ticket of call ${call.id} has expired`);
    if (ticket.callId !== call.id || ticket.tool !== call.tool.name || ticket.args !== call.args) {
      refuse("the ticket is for another call");
    }
  }
  /** The last thing before an effect, with nothing to wait for in between: what is not on the record does not happen. */
  function note(effect: EffectNote): void {
    check();
    ticket.note(effect);
  }
  function checkChange(what: string): void {
    check();
    if (call.tool.class !== "mutating") {
      throw new EffectError("AccessDenied", `${call.tool.name} is ${call.tool.class} and may not ${what}`);
    }
    if (policyVersion() !== ticket.policyVersion) {
      throw new EffectError(
        "AccessDenied",
        "the policy has changed since the decision about this call; make the call again",
      );
    }
  }
  /** For what nobody has judged as a call of its own. Gives where a command runs. */
  async function checkEffect(effect: InnerEffect): Promise<Confinement | undefined> {
    // Once, before the first effect: what the call itself changes does not void it.
    rechecked ??= call.judged?.recheck?.();
    await rechecked;
    if (isWhole) return call.judged?.confinement;
    const judged = await permission.judgeEffect(call, effect);
    if ("refused" in judged) throw new EffectError("AccessDenied", judged.refused);
    return judged.confinement;
  }
  async function checkRead(tool: InnerEffect["tool"], path: string): Promise<void> {
    check();
    if (isWhole) return;
    await checkEffect({ tool, args: { path } });
    check();
  }
  async function checkedChange(what: string, effect: InnerEffect): Promise<void> {
    checkChange(what);
    await checkEffect(effect);
  }
  /** A redirect leads to a host that nobody has judged yet. */
  async function judgeHop(url: string): Promise<void> {
    await checkEffect({ tool: "web.fetch", args: { url } });
    note({ port: "connect", target: hostOf(url) });
  }
  async function admitToServer(target: string): Promise<void> {
    check();
    if (call.tool.class === "mutating") checkChange("call a server");
    rechecked ??= call.judged?.recheck?.();
    await rechecked;
    const effect = { port: "server", target } as const;
    if (ticket.intend !== undefined) await ticket.intend(effect);
    note(effect);
  }
  async function admitChange(target: string): Promise<void> {
    checkChange("change memories");
    rechecked ??= call.judged?.recheck?.();
    await rechecked;
    note({ port: "memory", target });
  }
  const onHost = (judged: NetworkJudgement): void => onNetwork(call, judged);
  return {
    files: {
      root: files.root,
      hidden: files.hidden ?? [],
      async locate(path) {
        check();
        return files.locate(path);
      },
      async stat(path) {
        check();
        return files.stat(path);
      },
      async read(path, maxBytes) {
        await checkRead("fs.read", path);
        return files.read(path, maxBytes);
      },
      async list(path) {
        await checkRead("fs.list", path);
        return files.list(path);
      },
      async write(path, content) {
        await checkedChange("write files", { tool: "fs.write", args: { path } });
        note({ port: "write", target: path });
        return files.write(path, content);
      },
      async makeDirectory(path) {
        await checkedChange("make directories", { tool: "fs.write", args: { path } });
        note({ port: "write", target: `${path}/` });
        return files.makeDirectory(path);
      },
      async move(from, to) {
        await checkedChange("move files", { tool: "fs.move", args: { from, to } });
        note({ port: "move", target: `${from} → ${to}` });
        return files.move(from, to);
      },
      async remove(path, options) {
        await checkedChange("remove files", { tool: "fs.remove", args: { path } });
        note({ port: "remove", target: path });
        return files.remove(path, options);
      },
    },
    processes: {
      async run(spec, signal) {
        check();
        // A built-in tool that only reads may run its one fixed program, the search.
        if (!isWhole || call.tool.class === "mutating") checkChange("run programs");
        const args = { command: commandOf(spec), ...(spec.cwd && { cwd: spec.cwd }) };
        // Without a word of who allowed it, a command is one that nobody was asked about.
        const confinement = (await checkEffect({ tool: "exec", args })) ?? "reader";
        const effect = { port: "process", target: `${spec.file} (${spec.args.length} arguments)` } as const;
        if (ticket.intend !== undefined) await ticket.intend(effect);
        note(effect);
        const { mayChangeSteering: _, ownProgram, ...asked } = spec;
        const steering = isWhole && call.judged?.steering !== undefined;
        // Where there is no sandbox, a program of ours runs all the same.
        const isSearch = isWhole && call.tool.class === "read_only" && ownProgram;
        const held = {
          confinement,
          ...(isSearch && { ownProgram }),
          ...(steering && { mayChangeSteering: true as const }),
        };
        return processes.run({ ...asked, ...held }, signal);
      },
    },
    web: {
      async get(request, signal) {
        check();
        await checkEffect({ tool: "web.fetch", args: { url: request.url } });
        note({ port: "connect", target: hostOf(request.url) });
        return recorded(request, (judged) => web.get(judged, signal), judgeHop, onHost);
      },
      async post(request, signal) {
        await checkedChange("send data to a server", { tool: "web.fetch", args: { url: request.url } });
        note({ port: "connect", target: hostOf(request.url) });
        return recorded(request, (judged) => web.post(judged, signal), judgeHop, onHost);
      },
    },
    servers: gatedServers(servers, call, admitToServer),
    memory: gatedMemory(memory, call, { check, admitChange, onRecall }),
    ...(askModel !== undefined && {
      model: {
        async ask(question, signal) {
          check();
          if (call.tool.name !== SAMPLE_TOOL)
            throw new EffectError("AccessDenied", `${call.tool.name} may not ask a model`);
          await call.judged?.recheck?.();
          note({ port: "model", target: String(call.args.server) });
          return askModel(call, question, signal);
        },
      },
    }),
  };
}

/** Of longer input the beginning is judged; the whole command must stay short enough to be read. */
const MAX_JUDGED_INPUT_CHARS = 8 * 1024;

/** As a shell would have to be told, so that it is judged as a command that somebody typed, with its variables and its input. */
function commandOf({ file, args, env = {}, stdin }: ProcessSpec): string {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const words = [...(variables.length === 0 ? [] : ["env", ...variables]), file, ...args].map(shellQuote);
  const input = stdin === undefined ? [] : ["<<<", shellQuote(stdin.slice(0, MAX_JUDGED_INPUT_CHARS))];
  return [...words, ...input].join(" ");
}

function shellQuote(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
