import { describe, expect, test } from "vitest";
import { loadsCode } from "./loader-variables.ts";

describe("a project's server cannot set", () => {
  test.each([
    ...[
      "NODE_OPTIONS",
      "NODE_PATH",
      "node_options",
      "LD_PRELOAD",
      "LD_LIBRARY_PATH",
      "LD_AUDIT",
      "DYLD_INSERT_LIBRARIES",
    ],
    ...["PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "VIRTUAL_ENV", "PATH", "Path", "HOME", "XDG_CONFIG_HOME"],
    ...["npm_config_node_options", "npm_config_script_shell", "UV_INDEX_URL", "PIP_INDEX_URL", "RUBYOPT", "PERL5OPT"],
    ...["JAVA_TOOL_OPTIONS", "CLASSPATH", "BASH_ENV", "BASH_FUNC_ls%%", "GIT_SSH_COMMAND", "DOTNET_STARTUP_HOOKS"],
    ...["GOFLAGS", "RUSTC_WRAPPER", "LUA_INIT_5_4", "PHPRC", "EDITOR"],
  ])("%s", (name) => {
    expect(loadsCode(name)).toMatch(/^(?:makes|decides|names) /);
  });
});

describe("a project's server may set", () => {
  test.each([
    "API_KEY",
    "NODE_ENV",
    "PORT",
    "LOG_LEVEL",
    "DATABASE_URL",
    "MEMORY_FILE_PATH",
    "GITHUB_TOKEN",
    "TZ",
    "R2_BUCKET",
    "DEBUG",
    "ENV",
    "GOOGLE_API_KEY",
    "R_TOKEN",
    "NODE_EXTRA_CA_CERTS",
  ])("%s", (name) => {
    expect(loadsCode(name)).toBeUndefined();
  });
});
