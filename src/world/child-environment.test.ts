import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { childEnvironment } from "./child-environment.ts";

test("only allowlisted variables are inherited, and nothing that looks like a secret", () => {
  const source = {
    PATH: "/bin",
    HOME: "/home/u",
    USER: "u",
    LOGNAME: "u",
    SHELL: "/bin/sh",
    LANG: "C",
    LC_ALL: "C",
    TZ: "UTC",
    TERM: "dumb",
    TMPDIR: "/tmp",
    LC_API_KEY: "secret",
    LC_BASTION_AUTH: "secret",
    HARNESS_TOKEN: "secret",
    OPENAI_API_KEY: "secret",
    GITHUB_TOKEN: "secret",
    AWS_SECRET: "secret",
    BASH_ENV: "/tmp/evil",
    LD_PRELOAD: "/tmp/evil.so",
    NODE_OPTIONS: "--require evil",
    ABSENT: undefined,
  };
  expect(withoutGit(childEnvironment(source, "/w"))).toEqual({
    PATH: "/bin",
    HOME: "/home/u",
    USER: "u",
    LOGNAME: "u",
    SHELL: "/bin/sh",
    LANG: "C",
    LC_ALL: "C",
    TZ: "UTC",
    TERM: "dumb",
    TMPDIR: "/tmp",
    SHLVL: "1",
  });
});

test("what the caller adds wins, except for names of our own; a missing PATH gets a default", () => {
  expect(
    withoutGit(
      childEnvironment({ LANG: "C" }, "/w", { LANG: "de_DE.UTF-8", EXTRA: "1", HARNESS_TOKEN: "x", harness_x: "x" }),
    ),
  ).toEqual({
    PATH: "/usr/local/bin:/usr/bin:/bin",
    LANG: "de_DE.UTF-8",
    EXTRA: "1",
    SHLVL: "1",
  });
});

test("programs of the workspace and of relative folders are not found by name", () => {
  const root = mkdtempSync(join(tmpdir(), "harness-path-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, "bin"));
  symlinkSync(join(root, "bin"), join(tmpdir(), `${basename(root)}-link`));
  onTestFinished(() => rmSync(join(tmpdir(), `${basename(root)}-link`)));
  const path = [join(root, "bin"), "node_modules/.bin", ".", "", join(tmpdir(), `${basename(root)}-link`), "/usr/bin"];
  expect(childEnvironment({ PATH: path.join(":") }, realpathSync(root)).PATH).toBe("/usr/bin");
  expect(childEnvironment({ PATH: "." }, root).PATH).toBe("/usr/local/bin:/usr/bin:/bin");
});

test("git runs no program that a repository names", () => {
  const { GIT_CONFIG_COUNT, GIT_CONFIG_KEY_0, GIT_CONFIG_VALUE_0, GIT_OPTIONAL_LOCKS } = childEnvironment({}, "/w");
  expect([GIT_CONFIG_COUNT, GIT_CONFIG_KEY_0, GIT_CONFIG_VALUE_0]).toEqual(["4", "core.fsmonitor", "false"]);
  expect(GIT_OPTIONAL_LOCKS).toBe("0");
});

function withoutGit(environment: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith("GIT_")));
}
