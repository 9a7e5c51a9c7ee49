import { describe, expect, test } from "vitest";
import { setInside } from "./steering-variables.ts";

describe("variables that steer whoever starts", () => {
  const command = { file: "/usr/bin/env", args: ["-0"] };

  test.each([
    "LD_PRELOAD",
    "GLIBC_TUNABLES",
    "DYLD_INSERT_LIBRARIES",
    "MallocStackLoggingDirectory",
    "MallocLogFile",
    "OBJC_DEBUG_MISSING_POOLS",
    "GCONV_PATH",
    "BASH_ENV",
    "ENV",
    "SHLVL",
  ])("%s is set inside", (name) => {
    const { command: steered, env } = setInside(command, { [name]: "x", PLAIN: "y" });
    expect(env).toEqual({ PLAIN: "y" });
    expect(steered.args).toContain(`${name}=x`);
    expect(steered.args.slice(-3)).toEqual(["--", "/usr/bin/env", "-0"]);
  });

  test("a command without one is left as it is", () => {
    expect(setInside(command, { NODE_OPTIONS: "--x", GIT_DIR: "g", MALLOCATOR: "m" })).toEqual({
      command,
      env: { NODE_OPTIONS: "--x", GIT_DIR: "g", MALLOCATOR: "m" },
    });
  });
});
