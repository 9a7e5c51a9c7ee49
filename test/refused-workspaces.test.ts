/** Which folders a session does not work in, by every way that one is opened, and where a session without a folder works. */
import { existsSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createHarness } from "../src/embed.ts";
import { calls, createHarnessRig, says } from "./fakes/harness-rig.ts";
import { createInProcessCli } from "./fakes/in-process-cli.ts";
import { openMemoryHarness } from "./fakes/memory-harness.ts";
import { createTemporaryWorkspace } from "./fakes/temporary-workspace.ts";

const allowing = { permissions: [{ effect: "allow", rule: "Write", source: "test" }] } as const;

describe("a session", () => {
  test("is refused in /, a home, above a home, in the program's own folders and in what holds them", async () => {
    const { outside } = createTemporaryWorkspace();
    const home = join(outside, "people/ada");
    mkdirSync(join(home, ".local/share/harness"), { recursive: true });
    const rig = await createHarnessRig([], { extraEnv: { HOME: home } });
    const own = [
      ".local/share/harness",
      ".cache",
      ".cache/harness",
      ".cache/harness/scratch",
      ".cache/harness/compile-cache/a",
    ];
    const folders = ["/", "/usr", home, `${home}/`, join(outside, "people"), ...own.map((path) => join(home, path))];
    for (const working_dir of folders) {
      await expect(rig.client.submit({ kind: "CreateSession", working_dir })).rejects.toMatchObject({
        reason: "ConfigInvalid",
        message: expect.stringContaining("Name the folder of a project"),
      });
    }
    mkdirSync(join(home, "project"));
    const working_dir = join(home, "project");
    expect(await rig.client.submit({ kind: "CreateSession", working_dir })).toHaveProperty("session");
  });

  test("without a folder works in a scratch folder of its own, which stays while files are in it", async () => {
    const home = createTemporaryWorkspace();
    const base = join(home.outside, "cache/scratch");
    const options = { workspace: home.root, extraEnv: { HOME: home.root }, scratch: base, settings: allowing };
    const rig = await createHarnessRig([calls(["fs_write", { path: "a.txt", content: "x" }]), says("done")], options);
    const folder = join(base, rig.session);
    expect(rig.of("SessionStarted")).toMatchObject([{ working_dir: folder }]);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    const { session: other = "" } = await rig.client.submit({ kind: "CreateSession" });
    expect(existsSync(join(base, other))).toBe(true);
    await rig.send();
    expect(existsSync(join(folder, "a.txt"))).toBe(true);
    await rig.harness.control.shutdown();
    expect(existsSync(join(folder, "a.txt"))).toBe(true);
    expect(existsSync(join(base, other))).toBe(false);
  });

  test("finds its scratch folder again when it is resumed", async () => {
    const home = createTemporaryWorkspace();
    const base = join(home.outside, "scratch");
    const rig = await createHarnessRig([], { workspace: home.root, extraEnv: { HOME: home.root }, scratch: base });
    await rig.client.submit({ kind: "EndSession", session: rig.session });
    expect(existsSync(join(base, rig.session))).toBe(false);
    await rig.client.submit({ kind: "CreateSession", resume: rig.session });
    expect(existsSync(join(base, rig.session))).toBe(true);
  });

  test("works in the folder of the program where that is an ordinary one", async () => {
    const { outside } = createTemporaryWorkspace();
    const rig = await createHarnessRig([], { scratch: join(outside, "scratch") });
    expect(rig.of("SessionStarted")).toMatchObject([{ working_dir: rig.workspace.root }]);
    expect(existsSync(join(outside, "scratch"))).toBe(false);
  });

  test("is refused in a home by the library, where no scratch folder is set", async () => {
    const { root } = createTemporaryWorkspace();
    const env = { HOME: root, OPENAI_API_KEY: "test-key" };
    const config = { model: "openai:x", workspace: root, env };
    await expect(createHarness(config)).rejects.toMatchObject({ reason: "ConfigInvalid" });
    const harness = await openMemoryHarness({ workspace: root, model: "openai:x", env });
    const client = harness.control.connect({ identityClass: "human", interactive: false });
    await expect(client.submit({ kind: "CreateSession" })).rejects.toMatchObject({ reason: "ConfigInvalid" });
    await harness.shutdown();
  });
});

describe("the program", () => {
  test("works in the folder of a project that -c names, from wherever it is started", async () => {
    const cli = createInProcessCli();
    const file = cli.put("project/harness.md", "Be brief.\n");
    const inHome = ["--cwd", "..", "-c", file];
    expect(await cli.run("deploy", "--dry-run", "--model", "scripted:x", ...inHome)).toMatchObject({ code: 2 });
    const { err } = await cli.run("deploy", "--dry-run", "--model", "scripted:x", "-c", file);
    expect(err).not.toContain("cannot be used");
  });

  test.each([
    ["run", "--model", "scripted:offline", "hello"],
    ["deploy", "--model", "scripted:offline", "--input", "hello"],
    ["rpc", "--model", "scripted:offline"],
  ])("%s is refused in a home, before it reads a file there", async (...args) => {
    const cli = createInProcessCli();
    cli.put("../harness.md", "---\nnonsense: [\n---\n");
    for (const folder of ["/", cli.env.HOME ?? ""]) {
      const { code, err } = await cli.run(...args, "--cwd", folder);
      expect({ code, err }).toEqual({
        code: 2,
        err: expect.stringContaining(`the workspace ${folder} cannot be used`),
      });
      expect(err).toContain("--cwd");
    }
  });
});
