import { expect, test } from "vitest";
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
    HARNESS_TOKEN: "secret",
    OPENAI_API_KEY: "secret",
    GITHUB_TOKEN: "secret",
    AWS_SECRET: "secret",
    BASH_ENV: "/tmp/evil",
    LD_PRELOAD: "/tmp/evil.so",
    NODE_OPTIONS: "--require evil",
    ABSENT: undefined,
  };
  expect(childEnvironment(source)).toEqual({
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
  });
});

test("what the caller adds wins, except for names of our own; a missing PATH gets a default", () => {
  expect(
    childEnvironment({ LANG: "C" }, { LANG: "de_DE.UTF-8", EXTRA: "1", HARNESS_TOKEN: "x", harness_x: "x" }),
  ).toEqual({
    PATH: "/usr/local/bin:/usr/bin:/bin",
    LANG: "de_DE.UTF-8",
    EXTRA: "1",
  });
});
