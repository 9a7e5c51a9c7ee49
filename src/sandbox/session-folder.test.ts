import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { createTemporaryWorkspace, type TemporaryWorkspace } from "../../test/fakes/temporary-workspace.ts";
import { createTestSandbox, hasSandbox, type TestSandboxOptions } from "../../test/fakes/test-sandbox.ts";

function withHome(workspace: TemporaryWorkspace, files: Readonly<Record<string, string>>): TestSandboxOptions {
  const home = join(workspace.outside, "home");
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(home, name)), { recursive: true });
    writeFileSync(join(home, name), content);
  }
  return { env: { ...process.env, HOME: home, XDG_CACHE_HOME: join(workspace.outside, "caches") } };
}

describe.runIf(hasSandbox)("the home of allowed commands", () => {
  test("has shims that pyenv can write, and the person's stay as they are", async () => {
    const workspace = createTemporaryWorkspace();
    const options = withHome(workspace, { ".pyenv/shims/pip": "#!/bin/sh\necho pip\n", ".pyenv/versions/x": "x" });
    const shims = join(workspace.outside, "home/.pyenv/shims");
    chmodSync(join(shims, "pip"), 0o755);
    writeFileSync(join(shims, "large"), "x".repeat(20_000));
    symlinkSync("/etc/passwd", join(shims, "link"));
    const sandbox = createTestSandbox(workspace, options);
    expect(await sandbox.shell("~/.pyenv/shims/pip; echo x > ~/.pyenv/shims/new; ls ~/.pyenv/shims")).toBe(
      "pip\nnew\npip\n",
    );
    expect(await sandbox.shell("ls ~/.pyenv/shims; cat ~/.pyenv/versions/x; echo y > ~/.pyenv/versions/x")).toMatch(
      /^new\npip\nx.*Read-only file system/s,
    );
    expect(readdirSync(shims)).toEqual(["large", "link", "pip"]);
    expect(await sandbox.shell("ls ~/.pyenv/shims", { confinement: "reader" })).toBe("large\nlink\npip\n");
  });

  test("shows Cargo the registries of the person, in a workspace anywhere", async () => {
    const workspace = createTemporaryWorkspace();
    const text =
      '[source.crates-io]\nreplace-with = "mirror"\n[source.mirror]\nregistry = "sparse+https://example.com/"\n';
    const sandbox = createTestSandbox(
      workspace,
      withHome(workspace, { ".cargo/config.toml": `${text}[registry]\ntoken = "SECRET"\n` }),
    );
    const said = await sandbox.shell("cat /.cargo/config.toml; echo x > /.cargo/config.toml");
    expect(said).toContain(text);
    expect(said).toContain("Read-only file system");
    expect(said).not.toContain("SECRET");
  });

  test("keeps Maven's packages for the next session", async () => {
    const workspace = createTemporaryWorkspace();
    const options = withHome(workspace, { ".m2/settings.xml": "SECRET" });
    const first = createTestSandbox(workspace, options);
    expect(
      await first.shell("mkdir ~/.m2/repository; echo kept > ~/.m2/repository/x; cat ~/.m2/settings.xml"),
    ).toContain("No such file");
    await first.close();
    expect(await createTestSandbox(workspace, options).shell("cat ~/.m2/repository/x")).toBe("kept\n");
    expect(existsSync(join(workspace.outside, "home/.m2/repository"))).toBe(false);
  });

  test("has a workspace below .cache, whose caches then last for the session", async () => {
    const workspace = createTemporaryWorkspace();
    const options = withHome(workspace, { ".cache/deep/project/a.txt": "a\n" });
    const inCache = { ...workspace, root: join(workspace.outside, "home/.cache/deep/project") };
    const sandbox = createTestSandbox(inCache, options);
    expect(await sandbox.shell("cat a.txt; mv ~/.cache/deep ~/x; ls ~/.cache")).toMatch(/^a\n.*busy\ndeep\n$/s);
    expect(readdirSync(join(workspace.outside))).not.toContain("caches");
  });
});

/** Root removes everything, so this is tried as somebody else. */
describe.runIf(process.getuid?.() === 0)("folders without rights that commands left", () => {
  test("are removed, and one that cannot be removed keeps no session from beginning", () => {
    const workspace = createTemporaryWorkspace();
    for (const folder of [workspace.outside, workspace.root]) chmodSync(folder, 0o777);
    const script = `
      import { chmodSync, existsSync, mkdirSync, utimesSync } from "node:fs";
      import { createSessionFolder, workspaceCache } from ${JSON.stringify(join(import.meta.dirname, "session-folder.ts"))};
      process.chdir(${JSON.stringify(workspace.outside)});
      const close = (path) => { mkdirSync(path + "/mod/x", { recursive: true }); chmodSync(path + "/mod", 0o555); chmodSync(path, 0o111); };
      close("caches/old/general");
      utimesSync("caches/old", 1, 1);
      workspaceCache("caches", "/somewhere", Date.now());
      const session = createSessionFolder(Date.now(), "/home/nobody", []);
      close(session.home + "/go");
      mkdirSync("harness-sandbox-4194305-x/" + "d/".repeat(400), { recursive: true });
      chmodSync("harness-sandbox-4194305-x/" + "d/".repeat(400), 0o111);
      chmodSync("harness-sandbox-4194305-x/" + "d/".repeat(300), 0o111);
      utimesSync("harness-sandbox-4194305-x", 1, 1);
      session.remove();
      createSessionFolder(Date.now(), "/home/nobody", []);
      console.log(existsSync("caches/old"), existsSync(session.path));`;
    const args = ["--input-type=module", "--no-warnings", "-e", script];
    const env = { ...process.env, TMPDIR: workspace.outside };
    expect(execFileSync(process.execPath, args, { uid: 65534, gid: 65534, env, encoding: "utf8" })).toBe(
      "false false\n",
    );
  });
});
