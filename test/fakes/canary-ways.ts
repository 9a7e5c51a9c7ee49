/**
 * The ways in: every place through which text reaches a session, as files of a project, replies of a model and a server. Each way
 * gets canaries of its own, so that one that is closed by accident can be told from one that is safe.
 */
import { type Canary, sheetOf } from "./canaries.ts";
import type { MockBlock, MockReply } from "./mock-reply.ts";

export const WAYS = [
  "input",
  "identity",
  "context_file",
  "tool_description",
  "read",
  "search",
  "exec_out",
  "exec_err",
  "exec_slow",
  "arguments",
  "unknown_tool",
  "wrong_arguments",
  "tool_error",
  "fetch_body",
  "fetch_header",
  "script_result",
  "script_log",
  "script_emit",
  "script_error",
  "script_metric",
  "script_attribute",
  "hook_reason",
  "hook_attribute",
  "hook_log",
  "model_text",
  "model_thinking",
  "question",
  "answer",
  "permission",
  "denial",
  "custom_event",
  "context_value",
  "changed_path",
  "provider_error",
] as const;
export type Way = (typeof WAYS)[number];

/** What goes through each way. */
export type Cargo = Readonly<Record<Way, readonly Canary[]>>;

/** Every canary through every way that takes it. */
export function everywhere(canaries: readonly Canary[]): Cargo {
  return cargo((way) => canaries.filter((canary) => takes(way, canary)));
}

/** Each way with canaries that no other has. */
export function apart(canaries: readonly Canary[], each: number): Cargo {
  const left = [...canaries];
  return cargo((way) => {
    const taken: Canary[] = [];
    while (taken.length < each) {
      const at = left.findIndex((canary) => takes(way, canary));
      if (at < 0) throw new Error(`there are not enough canaries for ${way}`);
      taken.push(...left.splice(at, 1));
    }
    return taken;
  });
}

function cargo(pick: (way: Way) => readonly Canary[]): Cargo {
  return Object.fromEntries(WAYS.map((way) => [way, pick(way)])) as unknown as Cargo;
}

/** Names of files, headers and metrics are short, on one line, of plain characters. */
const NARROW: ReadonlySet<Way> = new Set(["fetch_header", "script_metric", "changed_path", "tool_error"]);
const NARROW_CHARS = 100;

function takes(way: Way, { text }: Canary): boolean {
  if (way === "permission") return text.length < 1000 && !text.includes("'");
  return !NARROW.has(way) || (text.length <= NARROW_CHARS && /^[\x20-\x2e\x30-\x7e]+$/.test(text));
}

/** Files of the workspace. */
export function filesOf(load: Cargo): Record<string, string> {
  const files: Record<string, string> = {};
  for (const way of WAYS) files[`way/${way}.txt`] = sheetOf(load[way]);
  for (const [index, { text }] of load.script_metric.entries()) files[`way/metric-${index}.txt`] = text;
  // A reason is cut where it is too long, and what is left of a key without its end looks like no key: one at a time.
  for (const [index, { text }] of load.hook_reason.entries()) files[reasonFile(index)] = text;
  const each = (way: Way, action: string): string =>
    `for part in fs.read("way/${way}.txt").split("\\n\\n# ----\\n\\n"):\n          ${action}`;
  files["harness.md"] = `---\ncontext:\n  files: [notes.md]\n---\n\n# Agent\n\n${sheetOf(load.identity)}`;
  files["notes.md"] = sheetOf(load.context_file);
  const tool = (name: string, script: string, about = `Does ${name}.`, parameters = ""): void => {
    const taken = parameters === "" ? "" : `parameters:\n${parameters}\n`;
    files[`.harness/tools/${name}.md`] = `---\n${taken}script: |\n  def run(args):\n      ${script}\n---\n\n${about}\n`;
  };
  tool("described", `return "described"`, sheetOf(load.tool_description));
  tool("script_result", `return {"text": fs.read("way/script_result.txt")}`);
  tool("script_log", `${each("script_log", `log.warn(part, {"again": part})`)}\n      return "logged"`);
  tool("script_emit", `${each("script_emit", `emit("note", {"text": part})`)}\n      return "emitted"`);
  tool("script_error", `assert(False, fs.read("way/script_error.txt"))`);
  tool(
    "script_metric",
    `for path in fs.glob("way/metric-*.txt"):\n          metrics.incr(fs.read(path))\n      return "counted"`,
  );
  tool(
    "script_attribute",
    `${each("script_attribute", `annotate({"note": part})\n          log(part)`)}\n      return 1`,
  );
  tool("fetched", `return http.get(args["url"])`, "Fetches.", "  url: { type: string, required: true }");
  tool("guarded", `return "guarded"`, "Guarded.", "  path: { type: string, required: true }");
  files[".harness/hooks/guard.md"] = hook(
    "tool.pre",
    `payload["name"] == "guarded"`,
    `return block(fs.read(payload["args"]["path"]))`,
  );
  files[".harness/hooks/note.md"] = hook(
    "tool.post",
    `payload["name"] == "described"`,
    `${each("hook_attribute", `annotate({"note": part})`)}\n      log(fs.read("way/hook_log.txt"))\n      return allow()`,
  );
  return files;
}

function reasonFile(index: number): string {
  return `way/reason-${index}.txt`;
}

function hook(event: string, when: string, script: string): string {
  return `---\nevent: ${event}\npriority: 10\ntimeout_ms: 5000\nwhen: ${when}\nscript: |\n  def handle(event, payload):\n      ${script}\n---\n\nA hook.\n`;
}

/** What a server answers below `/body` and `/header`. */
export function served(load: Cargo, path: string): { readonly headers: Record<string, string>; readonly body: string } {
  if (path !== "/header") return { headers: { "content-type": "text/plain" }, body: sheetOf(load.fetch_body) };
  const headers = load.fetch_header.map(({ text }, index) => [`x-part-${index}`, text] as const);
  return { headers: Object.fromEntries(headers), body: "see the headers" };
}

const SLOW_BYTES = 61;

/** The replies of one turn: text and reasoning one character at a time, then calls of every kind, then an answer. */
export function turnReplies(load: Cargo, serverUrl: string, canAsk: boolean): MockReply[] {
  const call = (name: string, args: unknown): MockBlock => {
    return { type: "tool_call", name: name.replaceAll(".", "_"), arguments: JSON.stringify(args), deltas: 40 };
  };
  const slow = `n=0; while s=$(dd if=way/exec_slow.txt bs=${SLOW_BYTES} skip=$n count=1 2>/dev/null; echo x); [ "$s" != x ]; do printf %s "\${s%x}"; n=$((n+1)); done`;
  const reading: readonly MockBlock[] = [
    { type: "thinking", text: sheetOf(load.model_thinking), deltas: Number.POSITIVE_INFINITY },
    { type: "text", text: sheetOf(load.model_text), deltas: Number.POSITIVE_INFINITY },
    call("fs.read", { path: "way/read.txt" }),
    call("fs.search", { pattern: ".", path: "way/search.txt" }),
    call("web.fetch", { url: `${serverUrl}/body`, raw: true }),
    call("fetched", { url: `${serverUrl}/header` }),
    ...load.tool_error.map(({ text }) => call("fs.read", { path: `missing ${text}` })),
  ];
  const acting: readonly MockBlock[] = [
    call("exec", { command: "cat way/exec_out.txt" }),
    call("exec", { command: "cat way/exec_err.txt >&2; exit 3" }),
    call("exec", { command: slow }),
    call("fs.write", { path: "out.txt", content: sheetOf(load.arguments) }),
    call("no_such_tool", { text: sheetOf(load.unknown_tool) }),
    call("fs.read", { path: 7, text: sheetOf(load.wrong_arguments) }),
    ...load.changed_path.map(({ text }) => call("fs.write", { path: `made ${text}`, content: "x" })),
  ];
  const scripted: readonly MockBlock[] = [
    ...["described", "script_result", "script_log", "script_emit", "script_error", "script_metric"].map((name) =>
      call(name, {}),
    ),
    call("script_attribute", {}),
    ...load.hook_reason.map((_, index) => call("guarded", { path: reasonFile(index) })),
  ];
  const asking: readonly MockBlock[] = [
    call("ask_user", { question: sheetOf(load.question), options: load.question.map(({ text }) => text) }),
    ...load.permission.map(({ text }) => call("exec", { command: `deny-me '${text}'` })),
  ];
  const said = (blocks: readonly MockBlock[]): MockReply => ({ type: "message", blocks });
  return [
    said(reading),
    said(acting),
    said(scripted),
    ...(canAsk ? [said(asking)] : []),
    said([{ type: "text", text: "Done.", deltas: 2 }]),
  ];
}

/** A vendor that repeats what it was sent, and more, in its refusal. */
export function refusalReply(load: Cargo): MockReply {
  const message = `Invalid request: ${sheetOf(load.provider_error)}`;
  return {
    type: "http",
    status: 400,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ error: { message, type: "invalid_request_error" } }),
  };
}
