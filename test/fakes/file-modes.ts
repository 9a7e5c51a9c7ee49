/** Whatever the umask says, what the program keeps belongs to its user alone: files 0600, folders 0700. A caller chooses the commands. */
import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { expect } from "vitest";
import { ackProject } from "./ack-project.ts";
import { type CliHome, type CliResult, createCliHome, finish } from "./cli-process.ts";
import { launcher } from "./launcher.ts";

const SCENARIO = `name: tour
rules:
  - when: { tool: fs.write }
    reply: [{ text: "Written." }]
  - when: { input: '/./' }
    reply: [{ tool: fs.write, args: { path: made.txt, content: "made" } }]
`;

/** With a compile cache of its own, whose modes count as well. */
function openRun(home: CliHome, ...args: string[]): Promise<CliResult> {
  const { NODE_COMPILE_CACHE: _shared, ...env } = home.env;
  const child = spawn("sh", ["-c", 'umask 000; exec "$0" "$@"', process.execPath, launcher, ...args], {
    cwd: home.workspace,
    env: { ...env, TMPDIR: join(home.env.HOME ?? "", "tmp"), XDG_STATE_HOME: join(home.env.HOME ?? "", "state") },
  });
  child.stdin.end();
  return finish(child);
}

/** What is open to others, as `mode path`. */
function openToOthers(folder: string): string[] {
  const all = [folder, ...readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name))];
  return all.flatMap((path) => {
    // What a tool writes into a workspace, that of the demo included, is for whoever works there.
    if (/harness-demo-\w+\//.test(path)) return [];
    const info = statSync(path);
    const mode = info.mode & 0o777;
    const isPrivate = mode === (info.isDirectory() ? 0o700 : 0o600);
    return isPrivate ? [] : [`${mode.toString(8)} ${relative(folder, path)}`];
  });
}

/** Runs a turn in each store and then these commands, all with umask 000, and looks at every file that is there then. */
export async function expectPrivateFiles(
  tour: (session: string, folder: string) => readonly (readonly string[])[],
): Promise<void> {
  const home = createCliHome();
  const root = home.env.HOME ?? "";
  mkdirSync(join(root, "tmp"));
  chmodSync(join(root, "tmp"), 0o700);
  home.put("model.yaml", SCENARIO);
  home.put("harness.md", "---\ncontext: { max_history: 5 }\n---\n\nBe brief.\n");
  await ackProject({ workspace: home.workspace, env: { ...home.env, XDG_STATE_HOME: join(root, "state") } });
  const run = ["run", "-m", "scripted:./model.yaml", "--auto-approve", "write"];
  const first = await openRun(home, ...run, "--json");
  expect(first.code).toBe(0);
  const session = /sess_\w{26}/.exec(first.out)?.[0] ?? "";
  for (const args of [[...run, "--store", "jsonl"], ...tour(session, join(root, "tmp"))]) {
    const { code, err } = await openRun(home, ...args);
    expect(code, `${args.join(" ")}: ${err}`).toBe(0);
  }
  // From the sources nothing is kept of parsed files, so there need not be a cache.
  const kept = ["data", "config", "state", "tmp", ...(existsSync(join(root, "cache")) ? ["cache"] : [])];
  const places = [...kept.map((name) => join(root, name)), join(home.workspace, ".harness", "threads")];
  expect(Object.fromEntries(places.map((folder) => [relative(root, folder), openToOthers(folder)]))).toEqual(
    Object.fromEntries(places.map((folder) => [relative(root, folder), []])),
  );
}
