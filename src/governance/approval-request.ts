/** What a permission request says about itself besides the call: what is to be done, where, how grave it is, and until when. */
import { EffectError } from "#base";
import type { ToolCall } from "#engine";
import type { EventPayload, ToolClass } from "#protocol";
import type { DiskReader } from "./disk-view.ts";
import { isCommand, kindOf, namedPaths } from "./known-tools.ts";
import { reachesNetwork } from "./network-programs.ts";

type Request = Required<
  Pick<EventPayload<"PermissionRequested">, "request_id" | "action" | "scope" | "class" | "expires_at">
>;

export function approvalRequest(
  { id, tool, args }: Pick<ToolCall, "id" | "tool" | "args">,
  expiresMs: number,
): Request {
  return {
    request_id: id,
    action: tool.name,
    scope: scopeOf(tool.name, args),
    class: classOf(tool, args),
    expires_at: new Date(expiresMs).toISOString(),
  };
}

/** More is not compared on a screen; the log has it too. */
const MAX_BEFORE_BYTES = 64 * 1024;

/** The text that the file holds now; undefined for no file, a larger one, and one that is not text. */
export async function textBefore(files: DiskReader, path: string): Promise<string | undefined> {
  try {
    const info = await files.stat(path);
    if (info?.kind !== "file" || info.sizeBytes > MAX_BEFORE_BYTES) return undefined;
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    return text.decode(await files.read(path, MAX_BEFORE_BYTES));
  } catch (error) {
    // Not readable or not UTF-8: the question is asked without it.
    if (error instanceof EffectError || error instanceof TypeError) return undefined;
    throw error;
  }
}

/** `path:src/a.ts`, `host:example.com`, `folder:.` for a command; `call` where nothing narrower is known. */
function scopeOf(name: string, args: ToolCall["args"]): string {
  if (isCommand(name)) return `folder:${typeof args.cwd === "string" ? args.cwd : "."}`;
  if (kindOf(name) === "fetch")
    return URL.canParse(String(args.url)) ? `host:${new URL(String(args.url)).host}` : "call";
  const paths = namedPaths(name, args);
  return paths.length === 0 ? "call" : `path:${paths.join(", ")}`;
}

/** A command that reaches the network is more than a change of this machine. */
function classOf(tool: ToolCall["tool"], args: ToolCall["args"]): ToolClass {
  return isCommand(tool.name) && reachesNetwork(String(args.command)) ? "sensitive" : tool.class;
}
