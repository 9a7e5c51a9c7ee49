/** `bin/harness` of a clone: a shell script that becomes the program, on the machine's Node or on the one that `npm ci` installed. */
import { execFileSync, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createCliHome, finish } from "../fakes/cli-process.ts";
import { processesWith } from "../fakes/marked-processes.ts";

const root = resolve(import.meta.dirname, "../..");
const script = join(root, "bin/harness");
/** As a user has it: npm puts folders of its own in front while it runs a script. */
const machinePath = (process.env.PATH ?? "").split(":").filter((folder) => !folder.includes("node_modules"));

test.each([
  ["the machine's own", machinePath],
  ["a new enough one", [dirname(process.execPath), ...machinePath]],
])("is one process with the program, which gets every signal (Node: %s)", async (_, path) => {
  const home = createCliHome({ PATH: path.join(":") });
  const mark = `mark-${randomUUID()}`;
  const waiting = JSON.stringify(`echo on > begun; exec -a ${mark} sleep 600`);
  home.put("model.yaml", `name: waits\nrules: []\notherwise: [{ tool: exec, args: { command: ${waiting} } }]\n`);
  const link = join(home.workspace, "linked");
  symlinkSync(script, link);
  // With job control a command in the background has a group of its own, which can be stopped. Bash waits without it: with it,
  // bash may take the stop for the end of what it waits for, and its own end would end the group.
  const command = `set -m; "$0" run -m scripted:./model.yaml --allow Bash --json go & set +m; echo $!; wait $!`;
  const shell = spawn("bash", ["-c", command, link], { cwd: home.workspace, env: { ...home.env } });
  const ended = finish(shell);
  const pid = Number(await new Promise((told) => shell.stdout.once("data", told)));
  onTestFinished(() => {
    if (existsSync(`/proc/${pid}`)) process.kill(pid, "SIGKILL");
  });
  await until(() => existsSync(join(home.workspace, "begun")));
  const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  expect(words.slice(1, 3)).toEqual([join(root, "bin/harness.cjs"), "run"]);
  const stopped = (): boolean => / T /.test(readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\)/, ""));
  process.kill(pid, "SIGTSTP");
  await until(stopped);
  process.kill(pid, "SIGCONT");
  await until(() => !stopped());
  process.kill(pid, "SIGTERM");
  const { code, out } = await ended;
  expect(code).toBe(143);
  expect(out).toContain('"kind":"TurnEnded"');
  expect(out).toContain('"kind":"SessionEnded"');
  expect(processesWith(mark)).toEqual([]);
});

test("says in one line what to do where there is no Node that it can use", async () => {
  const home = createCliHome();
  const folders = ["clone/bin", "programs"].map((name) => join(home.workspace, name));
  const [bin = "", programs = ""] = folders;
  for (const folder of folders) mkdirSync(folder, { recursive: true });
  cpSync(script, join(bin, "harness"));
  for (const name of ["dirname", "readlink"]) {
    symlinkSync(execFileSync("which", [name], { encoding: "utf8" }).trim(), join(programs, name));
  }
  const child = spawn("/bin/sh", [join(bin, "harness"), "version"], { env: { PATH: programs } });
  expect(await finish(child)).toEqual({
    code: 2,
    out: "",
    err: `harness needs Node 24 or newer, and there is none: run \`npm ci\` in ${dirname(bin)}, which installs one.\n`,
  });
});

test("all places that know which Node is needed agree", () => {
  const text = (file: string): string => readFileSync(join(root, file), "utf8");
  // Our own package.json.
  const { engines } = JSON.parse(text("package.json")) as { engines: { node: string } };
  expect([
    `>=${/^needed=(\d+)$/m.exec(text("bin/harness"))?.[1]}`,
    `>=${/^const MIN_MAJOR = (\d+);$/m.exec(text("bin/harness.cjs"))?.[1]}`,
  ]).toEqual([engines.node, engines.node]);
});

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((next) => setImmediate(next));
}
