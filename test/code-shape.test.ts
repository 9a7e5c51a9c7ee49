/** No file and no function grows beyond what one can read at a time; those that do are listed with their reason. */
import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseSync } from "rolldown/utils";
import { expect, test } from "vitest";

const root = resolve(import.meta.dirname, "..");
const MAX_FILE_LINES = 400;
/** Lines of its own: what a function defines inside, as a factory does, counts for itself. */
const MAX_FUNCTION_LINES = 60;

/** File → why it may be longer. */
const longFiles: Readonly<Record<string, string>> = {
  "src/world/processes.ts": "the one file that may start programs, so that all ways to start one are in it",
};

/** `file: name` → why it may be longer. */
const longFunctions: Readonly<Record<string, string>> = {
  "src/cli/event-line.ts: gist": "one case for each kind of event",
  "src/cli/explain.ts: explain": "gathers everything about one call in the order in which it is printed",
  "src/cli/program.ts: buildProgram": "the list of commands",
  "src/cli/project-commands.ts: addProjectCommands": "the list of commands",
  "src/cli/renderer.ts: show": "one case for each kind of event",
  "src/cli/sessions.ts: addSessionsCommands": "the list of commands",
  "src/cli/terminal.ts: createTerminal": "the members of one port",
  "src/client/follow.ts: followEvents": "one loop whose state each branch changes",
  "src/daemon/run.ts: serve": "starts and ends the parts of a daemon, in the order that matters",
  "src/engine/bus.ts: createEventBus": "the state that all members of the bus share",
  "src/engine/session.ts: createSession": "the state that all members of a session share",
  "src/engine/turn.ts: runTurn": "one loop: the turn",
  "src/governance/permission.ts: ask": "one question from its record to its answer",
  "src/mcp/supervised-server.ts: superviseServer": "the state of one server, which all its members share",
  "src/program/assemble.ts: assembleHarness": "the list of what all sessions share",
  "src/program/open.ts: openProgram": "the list of what a program is made of",
  "src/sandbox/guarded-names.ts: guardNames": "one walk over the names that are held",
  "src/session/project.ts: createProjectRuntime": "parts that refer to each other",
  "src/transports/http/server.ts: startHttpServer": "what a server has while it listens",
  "src/transports/http/web-socket.ts: serveWebSocket": "the state of one connection",
  "src/transports/rpc/projection.ts: project": "one case for each kind of event",
  "src/transports/rpc/server.ts: serveRpc": "the state of one connection",
  "src/undo/restore-plan.ts: planRestore": "one case for each way a path can have changed",
};

interface Spanned {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

const files = globSync("src/**/*.ts", { cwd: root })
  .filter((path) => !/\.test\.ts$/.test(path))
  .sort()
  .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));

test("files have at most 400 lines, but for those in the table", () => {
  const long = files.filter(({ text }) => text.split("\n").length - 1 > MAX_FILE_LINES).map(({ path }) => path);
  expect(long).toEqual(Object.keys(longFiles).sort());
});

test("functions have at most 60 lines of their own, but for those in the table", () => {
  const long = files.flatMap(({ path, text }) => {
    const found = functionsOf(path, text);
    return found
      .filter((one) => lineCount(text, one) > MAX_FUNCTION_LINES && ownLines(text, one, found) > MAX_FUNCTION_LINES)
      .map(({ name }) => `${path}: ${name}`);
  });
  expect(long.sort()).toEqual(Object.keys(longFunctions).sort());
});

test("the measure leaves out what a function defines inside", () => {
  const text = `function outer() {\n${"  a();\n".repeat(50)}  const inner = () => {\n${"    b();\n".repeat(50)}  };\n}\n`;
  const found = functionsOf("x.ts", text);
  expect(found.map((one) => [one.name, ownLines(text, one, found)])).toEqual([
    ["outer", 53],
    ["inner", 52],
  ]);
});

function lineCount(text: string, { start, end }: Pick<Spanned, "start" | "end">): number {
  return text.slice(start, end).split("\n").length;
}

function ownLines(text: string, whole: Spanned, all: readonly Spanned[]): number {
  const { start, end } = whole;
  const inside = all.filter((one) => one.start > start && one.end <= end);
  const outermost = inside.filter((one) => !inside.some((other) => other.start < one.start && other.end >= one.end));
  return lineCount(text, whole) - outermost.reduce((sum, one) => sum + lineCount(text, one) - 1, 0);
}

/** In the order in which they begin; one without a name has that of what it is given to. */
function functionsOf(path: string, text: string): readonly Spanned[] {
  const { program, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
  const found: Spanned[] = [];
  walk(program, "the file", found);
  return found;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

function walk(value: unknown, name: string, found: Spanned[]): void {
  if (Array.isArray(value)) {
    for (const one of value) walk(one, name, found);
    return;
  }
  if (!isNode(value)) return;
  const named = nameOf(value) ?? name;
  if (/^(?:Function(?:Declaration|Expression)|ArrowFunctionExpression)$/.test(value.type)) {
    found.push({ name: named, start: value.start, end: value.end });
  }
  for (const child of Object.values(value)) walk(child, named, found);
}

function nameOf(node: Node): string | undefined {
  const { id, key } = node as Node & { readonly id?: unknown; readonly key?: unknown };
  for (const one of [id, key]) {
    if (isNode(one) && "name" in one && typeof one.name === "string") return one.name;
  }
  return undefined;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && "start" in value;
}
