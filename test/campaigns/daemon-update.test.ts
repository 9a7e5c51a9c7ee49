/** A daemon whose program is replaced while it runs: it says so once, lets its turns end, and leaves nothing; the next command starts the new one. */
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startMark } from "#world";
import { finish, startCli } from "../fakes/cli-process.ts";
import { createDaemonHome, textBody } from "../fakes/daemon-home.ts";
import { launcher } from "../fakes/launcher.ts";

const UPDATED = "harness was updated while this daemon was running; it ends now.";

/** The command has the time in which the daemon notices. */
const SCENARIO = `
name: update
rules:
  - when: { tool: exec }
    reply: [{ text: "it went well" }]
  - when: { input: "/work/" }
    reply: [{ tool: exec, args: { command: "sleep 8" } }]
otherwise: [{ text: "hello" }]
`;

/** A copy of the package that the tests have, and how to put another build in its place. */
function createPackage() {
  const folder = mkdtempSync(join(tmpdir(), "harness-update-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const source = dirname(dirname(launcher));
  for (const part of ["bin", "dist", "profiles", "templates", "scenarios", "skills", "package.json"]) {
    cpSync(join(source, part), join(folder, part), { recursive: true });
  }
  symlinkSync(resolve(import.meta.dirname, "../../node_modules"), join(folder, "node_modules"));
  const dist = join(folder, "dist");
  let builds = 0;
  return {
    launcher: join(folder, "bin", "harness.cjs"),
    /** As a build does it: every file with a hash in its name is gone, and others are there that say another time of the build. */
    rebuild() {
      builds += 1;
      const hashed = readdirSync(dist).filter((name) => /-[\w-]{8}\.js$/.test(name));
      const renamed = new Map(hashed.map((name) => [name, name.replace(/.{8}\.js$/, `BUILD${builds}_0.js`)]));
      // Parts of the same name are told apart by their hash alone.
      const taken = new Set<string>();
      for (const [name, next] of renamed) {
        let unique = next;
        for (let n = 1; taken.has(unique); n++) unique = next.replace("_0.js", `_${n}.js`);
        taken.add(unique);
        renamed.set(name, unique);
      }
      const files = readdirSync(dist).filter((name) => name.endsWith(".js"));
      const texts = files.map((name) => {
        // In one go: the daemon looks every five seconds.
        const text = readFileSync(join(dist, name), "utf8").replaceAll(
          /[\w-]+\.js/g,
          (file) => renamed.get(file) ?? file,
        );
        return [
          renamed.get(name) ?? name,
          text.replaceAll(/20\d\d-\d\d-\d\dT[\d:.]+Z/g, `2099-01-0${builds}T00:00:00.000Z`),
        ] as const;
      });
      for (const name of files) rmSync(join(dist, name));
      for (const [name, text] of texts) writeFileSync(join(dist, name), text);
    },
  };
}

test("in the background", async () => {
  const program = createPackage();
  const home = createDaemonHome({}, program.launcher);
  home.put("scenario.yaml", SCENARIO);
  const flags = ["-m", "scripted:./scenario.yaml", "--allow", "Bash(*)", "--sandbox", "off"];
  const pid = await home.start(...flags);
  program.rebuild();
  // Nothing of a session was loaded so far.
  await home.ask("GET", "/v1/handshake");
  const { id } = (await home.ask("POST", "/v1/sessions", { working_dir: home.workspace })).json;
  const working = home.ask("POST", `/v1/sessions/${id}/input?wait=turn`, textBody("work"));
  const isDraining = (): boolean => home.logged().some(({ msg }) => String(msg).startsWith("harness was updated"));
  while (!isDraining()) await new Promise((next) => setTimeout(next, 50));
  expect((await home.ask("POST", `/v1/sessions/${id}/input?mode=queue`, textBody("later"))).json.error).toMatchObject({
    reason: "ShuttingDown",
  });
  expect((await working).json).toMatchObject({ outcome: "answered", answer: "it went well" });
  while (startMark(pid) !== undefined) await new Promise((next) => setTimeout(next, 50));
  expect([existsSync(home.socket), existsSync(home.tokenFile), readdirSync(home.claims)]).toEqual([false, false, []]);
  const printed = readFileSync(join(home.env.HOME ?? "", ".local/state/harness/log/daemon.out"), "utf8");
  expect(printed.split(`${UPDATED} The next harness command starts the new one.\n`).length).toBe(2);
  expect(printed).not.toMatch(/ERR_MODULE|InternalError|\bat file:/);
  expect(home.logged().filter(({ level }) => level === "error")).toEqual([]);
  const next = await home.start(...flags);
  expect(next).not.toBe(pid);
  await home.ask("GET", "/v1/handshake");
  await home.ask("POST", "/v1/sessions", { resume: id });
  const { json } = await home.ask("POST", `/v1/sessions/${id}/input?wait=turn`, textBody("hello"));
  expect(json.error ?? json).toMatchObject({ outcome: "answered" });
});

test("in the foreground it ends with 1, for whoever starts it again; a command that comes first replaces the one in the background", async () => {
  const program = createPackage();
  const home = createDaemonHome({}, program.launcher);
  const child = startCli(home, ["daemon", "run"]);
  const ended = finish(child);
  while ((await home.status()).state !== "running") await new Promise((next) => setTimeout(next, 50));
  program.rebuild();
  expect(await ended).toMatchObject({ code: 1, err: expect.stringContaining(`${UPDATED} Start it again.\n`) });

  const pid = await home.start();
  program.rebuild();
  const replaced = JSON.parse((await home.daemon("start", "--json")).out) as { pid: number; started: boolean };
  expect(replaced.started).toBe(true);
  expect(startMark(pid)).toBeUndefined();
});
