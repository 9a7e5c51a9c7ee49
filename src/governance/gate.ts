/**
 * Tool middleware: hands a call its effect ports, bound to that one call. They refuse once the call has ended or was
 * cancelled, and a read-only tool gets no port that changes files. Without this step a tool cannot have an effect.
 */
import { EffectError, type EffectPorts } from "#base";
import type { ToolCall, ToolMiddleware } from "#engine";

export function createGate(ports: EffectPorts): ToolMiddleware {
  return async (call, next) => {
    const ticket = { open: true };
    try {
      return await next({ ...call, ports: bind(ports, call, ticket) });
    } finally {
      ticket.open = false;
    }
  };
}

function bind(ports: EffectPorts, call: ToolCall, ticket: { open: boolean }): EffectPorts {
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
  return {
    files: {
      root: files.root,
      locate: guarded(check, (path) => files.locate(path)),
      stat: guarded(check, (path) => files.stat(path)),
      read: guarded(check, (path, maxBytes) => files.read(path, maxBytes)),
      list: guarded(check, (path) => files.list(path)),
      write: guarded(
        () => checkChange("write files"),
        (path, content) => files.write(path, content),
      ),
      makeDirectory: guarded(
        () => checkChange("make directories"),
        (path) => files.makeDirectory(path),
      ),
      move: guarded(
        () => checkChange("move files"),
        (from, to) => files.move(from, to),
      ),
      remove: guarded(
        () => checkChange("remove files"),
        (path, options) => files.remove(path, options),
      ),
    },
    processes: { run: guarded(check, (spec, signal) => processes.run(spec, signal)) },
    web: {
      get: guarded(check, (request, signal) => web.get(request, signal)),
      post: guarded(
        () => checkChange("send data to a server"),
        (request, signal) => web.post(request, signal),
      ),
    },
  };
}

function guarded<Args extends unknown[], Result>(
  check: () => void,
  effect: (...args: Args) => Promise<Result>,
): (...args: Args) => Promise<Result> {
  return async (...args) => {
    check();
    return effect(...args);
  };
}
