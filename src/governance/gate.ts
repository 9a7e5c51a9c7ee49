/**
 * Tool middleware: hands a call its effect ports, bound to that one call. They refuse once the call has ended or was
 * cancelled, and a read-only tool gets no port that changes files. Without this step a tool cannot have an effect.
 */
import { EffectError, type EffectPorts, type ProcessSpec } from "#base";
import type { ToolCall, ToolMiddleware } from "#engine";
import type { InnerEffect } from "./permission.ts";

export interface GateOptions {
  readonly ports: EffectPorts;
  /** Why an effect of a tool that is not built in may not happen; undefined when it may. */
  readonly judgeEffect: (call: ToolCall, effect: InnerEffect) => Promise<string | undefined>;
  /** Whether the call itself is the effect and was judged as that. */
  readonly isJudgedWhole: (call: ToolCall) => boolean;
}

export function createGate({ ports, judgeEffect, isJudgedWhole }: GateOptions): ToolMiddleware {
  return async (call, next) => {
    const ticket = { open: true };
    const judge = isJudgedWhole(call) ? undefined : (effect: InnerEffect) => judgeEffect(call, effect);
    try {
      return await next({ ...call, ports: bind(ports, call, ticket, judge) });
    } finally {
      ticket.open = false;
    }
  };
}

function bind(
  ports: EffectPorts,
  call: ToolCall,
  ticket: { open: boolean },
  judge: ((effect: InnerEffect) => Promise<string | undefined>) | undefined,
): EffectPorts {
  const { files, processes, web } = ports;
  function check(): void {
    if (!ticket.open) throw new EffectError("AccessDenied", `call ${call.id} has ended; its ports are closed`);
    if (call.signal.aborted) throw new EffectError("Cancelled", "the call was cancelled");
  }
  function checkChange(what: string): void {
    check();
    if (call.tool.class !== "mutating") {
      throw new EffectError("AccessDenied", `${call.tool.name} is ${call.tool.class} and may not ${what}`);
    }
  }
  /** For what nobody has judged as a call of its own. */
  async function checkEffect(effect: InnerEffect): Promise<void> {
    if (judge === undefined) return;
    const why = await judge(effect);
    if (why !== undefined) throw new EffectError("AccessDenied", why);
    check();
  }
  async function checkRead(tool: InnerEffect["tool"], path: string): Promise<void> {
    check();
    await checkEffect({ tool, args: { path } });
  }
  async function checkedChange(what: string, effect: InnerEffect): Promise<void> {
    checkChange(what);
    await checkEffect(effect);
  }
  return {
    files: {
      root: files.root,
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
        return files.write(path, content);
      },
      async move(from, to) {
        await checkedChange("move files", { tool: "fs.move", args: { from, to } });
        return files.move(from, to);
      },
      async remove(path, options) {
        await checkedChange("remove files", { tool: "fs.remove", args: { path } });
        return files.remove(path, options);
      },
    },
    processes: {
      async run(spec, signal) {
        check();
        // A built-in tool that only reads may run its one fixed program, the search.
        if (judge !== undefined) checkChange("run programs");
        await checkEffect({ tool: "exec", args: { command: commandOf(spec), ...(spec.cwd && { cwd: spec.cwd }) } });
        return processes.run(spec, signal);
      },
    },
    web: {
      async get(request, signal) {
        check();
        await checkEffect({ tool: "web.fetch", args: { url: request.url } });
        return web.get(request, signal);
      },
    },
  };
}

/** As a shell would have to be told, so that it is judged as a command that somebody typed. */
function commandOf({ file, args }: ProcessSpec): string {
  return [file, ...args].map(shellQuote).join(" ");
}

function shellQuote(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
