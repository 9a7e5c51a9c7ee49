/** Finds the examples of artifacts, scripts and conditions in the text of a specification. */
import type { ExampleText } from "./script-example.ts";

export interface PrintedExample extends ExampleText {
  readonly line: number;
}

/** An artifact has no longer head than this. */
const MAX_HEAD_LINES = 60;

interface Found {
  readonly kind: ExampleText["kind"];
  readonly text: string;
  /** The last line of it. */
  readonly end: number;
}

export function printedExamples(text: string): readonly PrintedExample[] {
  const lines = text.split("\n");
  const examples: PrintedExample[] = [];
  for (let at = 0; at < lines.length; at++) {
    const found =
      wholeFile(lines, at) ??
      keysWithScript(lines, at) ??
      bareScript(lines, at) ??
      expression(lines, at) ??
      quoted(lines, at);
    if (found === undefined) continue;
    examples.push({ kind: found.kind, text: found.text, line: at + 1 });
    at = found.end;
  }
  return examples;
}

/** Between two lines with `---`. */
function wholeFile(lines: readonly string[], at: number): Found | undefined {
  if (lines[at] !== "---") return undefined;
  const end = lines.indexOf("---", at + 1);
  const head = lines.slice(at + 1, end);
  const has = (key: RegExp): boolean => head.some((line) => key.test(line));
  if (end === -1 || end - at > MAX_HEAD_LINES || !has(/^ *script:/)) return undefined;
  const kind = has(/^event:/) ? "hook" : has(/^model:/) ? "agent" : "tool";
  return { kind, text: `${lines.slice(at, end + 1).join("\n")}\n`, end };
}

/** Keys of an artifact, with or without a list around it, and a script that belongs to them. */
function keysWithScript(lines: readonly string[], at: number): Found | undefined {
  const key = /^( *(?:- )?)(event|name|when|description|timeout_ms|parameters|handler|script):/.exec(lines[at] ?? "");
  if (key === null) return undefined;
  const indent = key[1]?.length ?? 0;
  let end = at;
  const depth = (line: string): number => (line === "" ? Number.POSITIVE_INFINITY : line.search(/\S/));
  while (end + 1 < lines.length && depth(lines[end + 1] ?? "") >= indent && !/^[A-Z]/.test(lines[end + 1] ?? ""))
    end += 1;
  const body = [(lines[at] ?? "").replace("- ", "  "), ...lines.slice(at + 1, end + 1)].map((line) =>
    line.slice(indent),
  );
  if (!body.some((line) => /^script: \|/.test(line))) return undefined;
  const isHook = body.some((line) => /def handle\(/.test(line));
  const own = body.filter((line) => !/^(name|model|type): /.test(line));
  return { kind: isHook ? "hook" : "tool", text: `---\n${own.join("\n").trimEnd()}\n---\n`, end };
}

function bareScript(lines: readonly string[], at: number): Found | undefined {
  const entry = /^def (run|handle)\(/.exec(lines[at] ?? "");
  if (entry === null) return undefined;
  let end = at;
  while (end + 1 < lines.length && /^( |$)/.test(lines[end + 1] ?? "")) end += 1;
  const body = indented(lines.slice(at, end + 1));
  const isHook = entry[1] === "handle";
  return {
    kind: isHook ? "hook" : "tool",
    text: `---\n${isHook ? "event: tool.pre\n" : ""}script: |\n${body}\n---\n`,
    end,
  };
}

function expression(lines: readonly string[], at: number): Found | undefined {
  const [, key, written = ""] = /^(condition|when): (\S.*)$/.exec(lines[at] ?? "") ?? [];
  if (key === undefined) return undefined;
  const text = written.replace(/^'(.*)'$/, "$1");
  if (key === "condition") return { kind: "condition", text, end: at };
  const script = "script: |\n  def handle(event, payload):\n      return allow()";
  return { kind: "hook", text: `---\nevent: tool.pre\nwhen: ${JSON.stringify(text)}\n${script}\n---\n`, end: at };
}

/** A script as a text of JSON. */
function quoted(lines: readonly string[], at: number): Found | undefined {
  const written = /"script": ("def (run|handle).*?[^\\]")/.exec(lines[at] ?? "");
  if (written?.[1] === undefined) return undefined;
  const body = indented(String(JSON.parse(written[1])).split("\n"));
  const isHook = written[2] === "handle";
  return {
    kind: isHook ? "hook" : "tool",
    text: `---\n${isHook ? "event: tool.pre\n" : ""}script: |\n${body}\n---\n`,
    end: at,
  };
}

function indented(lines: readonly string[]): string {
  return lines
    .map((line) => `  ${line}`)
    .join("\n")
    .trimEnd();
}
