/**
 * Who has ports that no gate has bound: whoever makes them, and what a session does with its own beside the gate. Each is in a table
 * with why it is no effect of the agent or of a person on the world. Everything else gets its ports from the gate, or has none.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { expect, test } from "vitest";

const root = resolve(import.meta.dirname, "..");

/** Makers of ports and of other ways to have an effect. */
const MAKES =
  /\b(createProcesses|createPublicWeb|createWorkspaceFiles|createWorkspaceRestore|createHttpClient)\((?!options)/g;

const makers: Readonly<Record<string, readonly [string, string]>> = {
  "src/session/world.ts": [
    "createProcesses createPublicWeb createWorkspaceFiles",
    "The ports of a session, which its gate binds to calls.",
  ],
  "src/cli/context-joins.ts": ["createWorkspaceFiles", "`harness context` reads the sources that it shows."],
  "src/cli/creds.ts": ["createProcesses", "The keychain program, for `harness creds`."],
  "src/cli/doctor.ts": ["createProcesses", "The doctor tries the sandbox out."],
  "src/cli/sandbox.ts": ["createProcesses", "`harness sandbox` runs the command that a person types."],
  "src/credentials/helper-keychain.ts": ["createProcesses", "The keychain program, for the credential helper."],
  "src/daemon/desktop-channel.ts": [
    "createProcesses",
    "The desktop's notification program, where the user has turned it on.",
  ],
  "src/evals/run-case.ts": ["createWorkspaceFiles", "Reads what a finished run left, to grade it."],
  "src/program/git.ts": [
    "createProcesses",
    "Reads commits for `harness policy diff` and worktrees, without hooks and filters.",
  ],
  "src/program/kept-heads.ts": ["createProcesses", "The keychain program, for the last known heads of logs."],
  "src/program/mcp-servers.ts": [
    "createProcesses",
    "Starts an MCP server that a person adds, in the sandbox, to ask what it offers.",
  ],
  "src/program/server-login.ts": ["createProcesses", "Opens the browser for a login that a person has begun."],
  "src/program/server-package.ts": ["createProcesses", "Installs a package that a person has typed or approved."],
  "src/program/tape.ts": ["createWorkspaceRestore", "A replay makes the changes of recorded commands."],
  "src/program/undo-folder.ts": [
    "createWorkspaceRestore",
    "`harness undo`, which a person types; recorded as WorkspaceRestored.",
  ],
  "src/program/undo.ts": [
    "createWorkspaceRestore",
    "Undo and redo, which only people request; recorded as WorkspaceRestored.",
  ],
  "src/program/worktrees.ts": ["createWorkspaceFiles", "Reads what a delegate changed in its worktree."],
  "src/providers/create.ts": ["createHttpClient", "Requests to models, which the session records."],
  "src/providers/router.ts": ["createHttpClient", "The same."],
};

/** Uses of the ports of a session in the folder that puts sessions together; `HookCall` and `LookUp` hand out bound ones. */
const USES = /\b(?:world\.)?ports(?:\.\w+)+|\bworld\.(?:processes|sandbox|servers)\.\w+/g;

const uses: Readonly<Record<string, readonly [string, string]>> = {
  "src/session/chains.ts": ["ports.files", "Where a read path really leads, for its labels. Reads no content."],
  "src/session/compaction.ts": [
    "world.ports.files.read",
    "The hash of a file that a call has read, so that a summary says whether it changed.",
  ],
  "src/session/engine.ts": [
    "world.ports.files.root world.sandbox.recordTo world.servers.recordTo world.servers.tools",
    "The name of the folder, and where what happens is recorded.",
  ],
  "src/session/input-completion.ts": ["ports.servers.complete", "Ports of a lookup, bound by the gate."],
  "src/session/life.ts": ["ports.files", "The name of the folder."],
  "src/session/open.ts": [
    "ports.files ports.files.root world.servers.load",
    "Undo looks at what a call is about to change. The lists of servers that are kept; connects nothing.",
  ],
  "src/session/policy.ts": [
    "ports.files ports.files.root world.sandbox.hold world.sandbox.namedByGit",
    "Where a path really leads before it is judged, what a person is shown of it, and what holds commands.",
  ],
  "src/session/project.ts": ["ports.files.root", "The name of the folder."],
  "src/session/shell-hooks.ts": [
    "ports.files.read ports.files.stat",
    "Ports of a hook: the hash of its own script, compared with the acked one.",
  ],
  "src/session/world.ts": ["ports.files.root", "The name of the folder."],
};

test("ports are made where the table says", () => {
  expect(found(productFiles(), MAKES)).toEqual(expected(makers));
});

test("a session uses its own ports beside the gate only as the table says", () => {
  const files = productFiles().filter((file) => relative(root, file).startsWith("src/session/"));
  expect(found(files, USES)).toEqual(expected(uses));
});

test("the scan finds what it should", () => {
  const inText = (text: string, what: RegExp): string[] => [...text.matchAll(what)].map(([match]) => match);
  expect(inText("await world.ports.processes.run(x)", USES)).toEqual(["world.ports.processes.run"]);
  expect(inText("const p = createProcesses({ root })", MAKES)).toHaveLength(1);
});

function expected(table: typeof makers): Record<string, string> {
  return Object.fromEntries(Object.entries(table).map(([file, [what]]) => [file, what]));
}

function found(files: readonly string[], what: RegExp): Record<string, string> {
  const rows = files.flatMap((file) => {
    const text = readFileSync(file, "utf8").replace(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*$/gm, "");
    const calls = text.replace(/^export function \w+\(.*$/gm, "");
    const names = new Set([...calls.matchAll(what)].map(([match]) => match.replace(/\($/, "")));
    return names.size === 0 ? [] : [[relative(root, file), [...names].toSorted().join(" ")] as const];
  });
  return Object.fromEntries(rows);
}

function productFiles(): string[] {
  return readdirSync(join(root, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts") && !/\.test\.ts$|-suite\.ts$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
