/**
 * Where the product can have an effect at all, read from its source: each file that can start a program, open a connection or
 * change a file is in the table below, with exactly the functions it uses and why. Whatever else is built can only ask these.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { parseSync } from "rolldown/utils";
import { describe, expect, test } from "vitest";

const root = resolve(import.meta.dirname, "..");

interface Place {
  readonly uses: string;
  readonly why: string;
}

/** The effects that tools, scripts and commands of the model can have: one place each, below the gate. */
const belowTheGate: Readonly<Record<string, Place>> = {
  "src/world/processes.ts": {
    uses: "node:child_process",
    why: "The one place that starts programs: the process port, and under it the sandbox.",
  },
  "src/world/public-web.ts": {
    uses: "node:http node:https",
    why: "The one place that opens connections for tools, scripts and hooks: the web port.",
  },
  "src/world/workspace-directory.ts": {
    uses: "fs.mkdir fs.open",
    why: "Folders of the workspace by handle, for the file port and for undo.",
  },
  "src/world/workspace-files.ts": {
    uses: "fs.link fs.open fs.rename fs.rmdir fs.unlink",
    why: "The one place that changes workspace files for tools: the file port.",
  },
  "src/sandbox/command-tree.ts": {
    uses: "fs.chmodSync fs.rmSync",
    why: "Removes the folders of a session and old caches, outside the workspace.",
  },
  "src/sandbox/control-group.ts": {
    uses: "fs.mkdirSync fs.rmdirSync fs.writeFileSync",
    why: "A control group of the kernel that holds root to a number of processes.",
  },
  "src/sandbox/egress-connections.ts": {
    uses: "node:net",
    why: "The one place that opens connections for commands in a sandbox.",
  },
  "src/sandbox/egress-proxy.ts": {
    uses: "node:http node:net",
    why: "Listens on Unix sockets for commands in a sandbox. http: sends their plain requests over connections that it was given.",
  },
  "src/sandbox/held-back.ts": {
    uses: "fs.renameSync",
    why: "Moves aside what a command put under a protected name.",
  },
  "src/sandbox/mount-pins.ts": {
    uses: "fs.mkdirSync",
    why: "Makes the folders of the session's home in which other things are mounted; no command can replace them.",
  },
  "src/sandbox/name-guard.ts": {
    uses: "fs.rmdir fs.symlinkSync fs.unlink fs.writeFileSync",
    why: "Puts placeholders there for a command, takes them away, and puts back a symlink it replaced.",
  },
  "src/sandbox/new-repository.ts": {
    uses: "fs.writeFileSync",
    why: "Takes settings that run programs out of a repository that a command began.",
  },
  "src/sandbox/placeholder-ignore.ts": {
    uses: "fs.appendFileSync fs.mkdirSync fs.writeFileSync",
    why: "Tells git in the session's home to ignore placeholders. The home is written to before the first command, never after.",
  },
  "src/sandbox/straight-folder.ts": {
    uses: "fs.chmodSync fs.openSync",
    why: "Folders of the workspace by handle, for sweeping; opens to their owner those that a command closed.",
  },
  "src/sandbox/session-folder.ts": {
    uses: "fs.copyFileSync fs.mkdirSync fs.mkdtempSync fs.utimesSync fs.writeFileSync",
    why: "The /tmp, the home and the cache that commands of a session see, outside the workspace.",
  },
  "src/sandbox/session-forwarder.ts": {
    uses: "node:net",
    why: "Runs inside the network namespace of a session and leads to the proxy; it can reach nothing else.",
  },
  "src/sandbox/session-network.ts": {
    uses: "fs.openSync fs.rmSync",
    why: "Opens namespaces, to keep them; removes an old socket of its own from the folder of the session.",
  },
};

/** Everything else that touches the world: the program's own files, what a person asks for on the command line, the models. */
const ownBusiness: Readonly<Record<string, Place>> = {
  "src/artifacts/file-content.ts": {
    uses: "fs.openSync",
    why: "Opens files of a project for reading.",
  },
  "src/artifacts/parse-cache.ts": {
    uses: "fs.openSync",
    why: "What parsing a project gave, in the cache folder of the user.",
  },
  "src/auth/token-file.ts": {
    uses: "fs.openSync",
    why: "Opens a token file for reading.",
  },
  "src/auth/token-records.ts": {
    uses: "fs.rmSync",
    why: "Which tokens were made and revoked, in the state folder; forgotten after their time.",
  },
  "src/world/checked-addresses.ts": {
    uses: "node:dns node:net",
    why: "Resolves a host once, to be checked; connects to nothing. net: isIP.",
  },
  "src/world/file-lock.ts": {
    uses: "fs.rmSync fs.utimesSync fs.writeFileSync",
    why: "Who may write a file or a folder of the program: the stored keys, the readable log.",
  },
  "src/world/inherited-descriptors.ts": {
    uses: "fs.openSync",
    why: "Opens /dev/null, to stand for what a child must not inherit.",
  },
  "src/world/make-folder.ts": {
    uses: "fs.mkdirSync",
    why: "A folder with those above it: the one place, because what Node has for it may never end.",
  },
  "src/world/remote-request.ts": {
    uses: "node:http node:https node:net",
    why: "Requests to MCP servers on the network, to the origin of the user's own entry; the gate has judged the call.",
  },
  "src/world/model-connections.ts": {
    uses: "node:http node:https",
    why: "Keeps connections to models open for the two places that send; sends nothing.",
  },
  "src/world/private-file.ts": {
    uses: "fs.fsyncSync fs.ftruncateSync fs.linkSync fs.openSync fs.renameSync fs.rmSync fs.writeFileSync fs.writeSync",
    why: "What the program keeps for itself: undo and acks, in the data and state folders.",
  },
  "src/world/program-facts.ts": {
    uses: "fs.open",
    why: "Opens programs for reading, to hash them.",
  },
  "src/world/process-monitor.ts": {
    uses: "fs.openSync fs.unlinkSync fs.writeSync",
    why: "Files without a name: what the sandbox says about a command, and what it reads.",
  },
  "src/world/scratch-folder.ts": {
    uses: "fs.rmdirSync",
    why: "Removes the empty folder of a session that named none.",
  },
  "src/world/small-file.ts": {
    uses: "fs.openSync",
    why: "Opens small files for reading.",
  },
  "src/world/straight-entry.ts": {
    uses: "fs.openSync",
    why: "Opens folders of the workspace by handle, for reading what is in them.",
  },
  "src/world/workspace-restore.ts": {
    uses: "fs.chmod fs.mkdir fs.open fs.rename fs.rmdir fs.symlink fs.unlink",
    why: "Undo and redo, which a person asks for; recorded as WorkspaceRestored. What a replayed command changed. No tool gets it.",
  },
  "src/cassette/workspace-changes.ts": {
    uses: "fs.openSync",
    why: "Opens files of the workspace for reading.",
  },
  "src/cassette/cassette-file.ts": {
    uses: "fs.open fs.unlink",
    why: "The cassette of a recorded session, in the file that a person names.",
  },
  "src/cli/saved-review.ts": {
    uses: "fs.writeFileSync",
    why: "A diff that a person saves while they review files of a project or the change of a call.",
  },
  "src/cli/audit.ts": {
    uses: "fs.open",
    why: "`audit anchor`, to the file that a person names; opens exported logs for reading.",
  },
  "src/program/kept-profiles.ts": {
    uses: "fs.rmSync",
    why: "Profiles of old sessions that are kept in the state folder.",
  },
  "src/program/daily-mark.ts": {
    uses: "fs.utimes fs.writeFile",
    why: "Notes in the state folder that something was done today.",
  },
  "src/daemon/probe.ts": {
    uses: "node:http",
    why: "Asks the daemon of this user how it is, on its socket.",
  },
  "src/daemon/run.ts": {
    uses: "fs.rmSync",
    why: "Takes away a socket that nobody answers on.",
  },
  "src/cli/demo.ts": {
    uses: "fs.cp fs.mkdtemp",
    why: "The scratch folder of `harness demo`.",
  },
  "src/daemon/ensure.ts": {
    uses: "fs.openSync fs.truncateSync",
    why: "What a daemon in the background prints, in the state folder.",
  },
  "src/program/worktrees.ts": {
    uses: "fs.rmSync",
    why: "Removes git worktrees of delegates and what git keeps about them, each by its own name.",
  },
  "src/program/input-files.ts": {
    uses: "fs.open",
    why: "Opens an image or a text file that a person names for reading.",
  },
  "src/program/git-files.ts": {
    uses: "fs.writeFileSync",
    why: "Files of a commit, in a folder of their own that a policy is read from.",
  },
  "src/cli/named-file.ts": {
    uses: "fs.writeFile",
    why: "`--junit` and `--logs`, to the file that a person names.",
  },
  "src/cli/new-project.ts": {
    uses: "fs.mkdir fs.writeFile",
    why: "`harness init` and `scaffold`, which a person types.",
  },
  "src/program/npm-package.ts": {
    uses: "fs.writeFileSync",
    why: "A package that a person has typed or approved: the folder in which npm installs it.",
  },
  "src/program/server-package.ts": {
    uses: "fs.rmSync",
    why: "Removes the folder of a package of an MCP server that was removed or not approved.",
  },
  "src/cli/outside-editor.ts": {
    uses: "fs.rmSync",
    why: "The file with an input while a person edits it in their own editor.",
  },
  "src/cli/skills.ts": {
    uses: "fs.mkdirSync fs.writeFileSync",
    why: "`harness skills new`, which a person types.",
  },
  "src/program/uv-package.ts": {
    uses: "fs.writeFileSync",
    why: "A package that a person has typed or approved: the folder in which uv installs it.",
  },
  "src/program/policy-source.ts": {
    uses: "fs.mkdtempSync fs.rmSync",
    why: "The folder for a policy of a commit, while it is read.",
  },
  "src/program/raw-dump.ts": {
    uses: "fs.appendFileSync fs.openSync",
    why: "`debug --raw`: the calls of a session that a person wants to see, in the state folder.",
  },
  "src/daemon/run-token.ts": {
    uses: "fs.rmSync",
    why: "The file with the token of a daemon.",
  },
  "src/cli/sessions-port.ts": {
    uses: "fs.openSync fs.writeSync",
    why: "`sessions export`, to the file that a person names.",
  },
  "src/cli/token.ts": {
    uses: "fs.fsyncSync fs.openSync fs.rmSync fs.writeSync",
    why: "`token mint --file`, to the file that a person names.",
  },
  "src/cli/verify.ts": {
    uses: "fs.mkdtempSync fs.rmSync",
    why: "The scratch folder of `harness verify`.",
  },
  "src/client/node/node-http.ts": {
    uses: "node:http node:https",
    why: "Opens connections of a client to the server that a person or a program names; no engine loads it.",
  },
  "src/conformance/drivers/http-client.ts": {
    uses: "node:http node:https node:net",
    why: "Connects to the server that a person names to be tried.",
  },
  "src/credentials/credential-file.ts": {
    uses: "fs.openSync",
    why: "Opens the file of stored keys for reading.",
  },
  "src/credentials/environment-keys.ts": {
    uses: "fs.openSync fs.writeSync",
    why: "Overwrites keys in the environment block of this very process.",
  },
  "src/program/user-plugins.ts": {
    uses: "import(source)",
    why: "Runs a plugin that the user's config.toml pins: the very bytes that were compared with the hash.",
  },
  "src/program/trusted-project.ts": {
    uses: "fs.openSync",
    why: "Opens the lock file that a person names for reading.",
  },
  "src/credentials/helper-process.ts": {
    uses: "fs.chmodSync fs.rmSync fs.rmdirSync fs.writeFileSync node:http node:https",
    why: "The credential helper: its private socket, and keys sealed for a helper that takes over.",
  },
  "src/credentials/login-callback.ts": {
    uses: "node:http",
    why: "Listens on 127.0.0.1 for the browser of a person who logs in at an MCP server, while the login waits.",
  },
  "src/credentials/helper-server.ts": {
    uses: "node:http node:https",
    why: "Opens connections to models that need a key, in the credential helper's process.",
  },
  "src/credentials/helper-supervisor.ts": {
    uses: "fs.mkdtempSync fs.rmSync",
    why: "The folder of the helper's socket.",
  },
  "src/evals/case-workspace.ts": {
    uses: "fs.copyFile fs.mkdir fs.mkdtemp fs.rm fs.writeFile",
    why: "The scratch folder of a run of an eval case, and the cassette of a recording beside the case.",
  },
  "src/logs/daily-files.ts": {
    uses: "fs.appendFileSync fs.renameSync fs.rmSync",
    why: "The program's own log, in the state folder.",
  },
  "src/mcp/kept-tools.ts": {
    uses: "fs.rmSync",
    why: "Removes the oldest lists of tools from the program's own state folder.",
  },
  "src/mcp/schema-check.ts": {
    uses: "node:worker_threads",
    why: "Checks arguments against schemas of MCP servers in a thread that can be ended; it runs no code of theirs.",
  },
  "src/mcp/schema-worker.ts": {
    uses: "node:worker_threads",
    why: "That thread: receives values, posts what is wrong with them.",
  },
  "src/providers/http.ts": {
    uses: "node:http node:https",
    why: "The one place that opens connections to models from the engine, and to the credential helper.",
  },
  "src/session/git-branch.ts": {
    uses: "fs.open",
    why: "reads git's file with the name of the branch, without waiting for a pipe in its place",
  },
  "src/stores/file-lines.ts": {
    uses: "fs.openSync",
    why: "Opens a log for reading.",
  },
  "src/stores/jsonl/checkpoints.ts": {
    uses: "fs.fdatasyncSync fs.ftruncateSync fs.openSync fs.writeSync",
    why: "Signatures beside the readable log.",
  },
  "src/stores/jsonl/file.ts": {
    uses: "fs.fdatasyncSync fs.ftruncateSync fs.writeSync",
    why: "The session log, as JSON lines.",
  },
  "src/stores/jsonl/folder.ts": {
    uses: "fs.fsyncSync fs.mkdirSync fs.openSync fs.renameSync fs.rmSync fs.writeFileSync",
    why: "The folder of that log.",
  },
  "src/stores/jsonl/store.ts": {
    uses: "fs.ftruncateSync fs.openSync",
    why: "The session log, as JSON lines.",
  },
  "src/stores/key-files.ts": {
    uses: "fs.openSync",
    why: "The machine key.",
  },
  "src/stores/known-heads.ts": {
    uses: "fs.rmSync",
    why: "Last known heads of logs that are long gone, in the state folder.",
  },
  "src/stores/signing-key.ts": {
    uses: "fs.openSync",
    why: "The key that signs checkpoints.",
  },
  "src/stores/sqlite/driver.ts": {
    uses: "fs.openSync",
    why: "The session log, encrypted.",
  },
  "src/transports/bind.ts": {
    uses: "fs.chmodSync fs.unlinkSync node:net",
    why: "The file of a Unix socket that clients come to. net: asks whether somebody answers on an old one.",
  },
  "src/transports/http/open-listener.ts": {
    uses: "node:http node:https",
    why: "Listens for clients.",
  },
  "src/trust/acked-texts.ts": {
    uses: "fs.rmSync",
    why: "What was acked, sealed, in the state folder.",
  },
  "src/tui/screen-port.ts": {
    uses: "fs.writeSync",
    why: "The last bytes for the terminal, which give it back, where it takes nothing.",
  },
  "src/undo/content-store.ts": {
    uses: "fs.rmSync",
    why: "What undo keeps, sealed, in the data folder.",
  },
  "src/undo/forget.ts": {
    uses: "fs.rmSync",
    why: "What undo keeps.",
  },
  "src/undo/rekey.ts": {
    uses: "fs.utimesSync",
    why: "What undo keeps.",
  },
  "src/undo/set-log.ts": {
    uses: "fs.rmSync fs.rmdirSync",
    why: "What undo keeps.",
  },
  "src/undo/snapshot.ts": {
    uses: "fs.openSync",
    why: "Opens workspace files for reading.",
  },
  "src/undo/undo-store.ts": {
    uses: "fs.utimesSync",
    why: "What undo keeps.",
  },
  "src/undo/workspace-undo.ts": {
    uses: "fs.rmSync",
    why: "What undo keeps.",
  },
};

const MODULES =
  /^node:(fs|fs\/promises|child_process|cluster|worker_threads|net|http|https|http2|tls|dgram|dns|inspector|vm)$/;
const CHANGES_FILES = new Set(
  (
    "appendFile chmod chown copyFile cp createWriteStream fchmod fchown fdatasync fsync ftruncate futimes lchmod lchown link " +
    "lutimes mkdir mkdtemp mkdtempDisposable open openAsBlob rename rm rmdir symlink truncate unlink utimes write writeFile writev"
  )
    .split(" ")
    .flatMap((name) => [name, `${name}Sync`]),
);
/** Ways to reach the world that leave no import behind. */
const HIDDEN_WAYS =
  /\bcreateRequire\b|\brequire\(|process\.(?:binding|dlopen|_linkedBinding)|(?<![.\w])(?:fetch|WebSocket|EventSource)\(|\beval\(/;

describe("effects", () => {
  const found = new Map(productFiles().flatMap((file) => usesOf(file)));

  test("are where the table says, by exactly the functions it lists", () => {
    const table = Object.entries({ ...belowTheGate, ...ownBusiness }).map(([file, { uses }]) => [file, uses]);
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(table));
  });

  test("of tools have one place each: programs, connections, workspace files", () => {
    const below = Object.entries(belowTheGate);
    const files = (what: RegExp): string[] => below.filter(([, { uses }]) => what.test(uses)).map(([file]) => file);
    expect(files(/child_process/)).toEqual(["src/world/processes.ts"]);
    expect(files(/node:https/)).toEqual(["src/world/public-web.ts"]);
    expect(files(/fs\.rename /)).toEqual(["src/world/workspace-files.ts"]);
    expect([...found].filter(([, uses]) => uses.includes("child_process")).map(([file]) => file)).toEqual([
      "src/world/processes.ts",
    ]);
  });

  test("come by no other way", () => {
    const hidden = productFiles().filter((file) => HIDDEN_WAYS.test(withoutComments(readFileSync(file, "utf8"))));
    expect(hidden.map((file) => relative(root, file))).toEqual([
      // Web sockets of a client, as node-http.ts; the same for a page in a browser, which has no other way.
      "src/client/node/node-sockets.ts",
      "src/client/web/web-http.ts",
      "src/client/web/web-sockets.ts",
      // Connects to the server that a person names to be tried, with a client that is a package.
      "src/conformance/drivers/web-socket.ts",
      // Loads the native driver of SQLite.
      "src/stores/sqlite/driver.ts",
    ]);
  });
});

test("the scan finds what it should", () => {
  const uses = (text: string): string | undefined => usesIn("x.ts", text);
  expect(uses('import { readFileSync, writeFileSync } from "node:fs";')).toBe("fs.writeFileSync");
  expect(uses('import type { Socket } from "node:net";')).toBeUndefined();
  expect(uses('import * as fs from "node:fs";')).toBe("fs.*");
  expect(uses('export { rm as gone } from "node:fs/promises";')).toBe("fs.rm");
  expect(uses('const { spawn } = process.getBuiltinModule("node:child_process");')).toBe("node:child_process");
  expect(uses("const m = process.getBuiltinModule(name);")).toBe("getBuiltinModule(name)");
  expect(uses('const { request } = await import("node:https");')).toBe("node:https");
  expect(uses("await import(name);")).toBe("import(name)");
  expect(HIDDEN_WAYS.test("await fetch(url)")).toBe(true);
  expect(HIDDEN_WAYS.test("tools.fetch(url)")).toBe(false);
});

function usesOf(file: string): [string, string][] {
  const path = relative(root, file);
  const uses = usesIn(path, readFileSync(file, "utf8"));
  return uses === undefined ? [] : [[path, uses]];
}

/** What a file can do to the world, in a fixed order; undefined when nothing. */
function usesIn(path: string, text: string): string | undefined {
  const { module, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
  const uses = new Set<string>();
  const named = (name: string, imported: string | undefined): void => {
    if (!MODULES.test(name)) return;
    if (!/^node:fs/.test(name)) uses.add(name);
    else if (imported === undefined || imported === "default") uses.add("fs.*");
    else if (CHANGES_FILES.has(imported)) uses.add(`fs.${imported}`);
  };
  for (const { moduleRequest, entries } of module.staticImports) {
    for (const entry of entries) if (!entry.isType) named(moduleRequest.value, entry.importName.name ?? undefined);
  }
  for (const entry of module.staticExports.flatMap(({ entries }) => entries)) {
    if (entry.moduleRequest !== null && !entry.isType)
      named(entry.moduleRequest.value, entry.importName.name ?? undefined);
  }
  const loaded = [
    ...module.dynamicImports.map(({ moduleRequest: { start, end } }) => ["import", text.slice(start, end)] as const),
    ...[...withoutComments(text).matchAll(/getBuiltinModule\(([^)]*)\)/g)].map(
      (match) => ["getBuiltinModule", match[1] ?? ""] as const,
    ),
  ];
  for (const [how, argument] of loaded) {
    const literals = [...argument.matchAll(/"([^"]*)"/g)].map((match) => match[1] ?? "");
    if (literals.length === 0) uses.add(`${how}(${argument})`);
    for (const name of literals) named(name, undefined);
  }
  return uses.size === 0 ? undefined : [...uses].toSorted().join(" ");
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*$/gm, "");
}

function productFiles(): string[] {
  return readdirSync(join(root, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .filter(({ name }) => !/\.test\.ts$|-suite\.ts$/.test(name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
