/** The page about profiles. */
import { profileTable } from "#artifacts/profile-table";
import { GENERATED, page } from "./markdown.ts";
import { tableSection, withInnerTables } from "./table-sections.ts";

export function profilesPage(): string {
  return page([
    "# Profiles",
    GENERATED,
    "A profile is a TOML file that says how Harness works for one kind of task: model, instructions, context files, MCP servers, tools, skills and permission rules. [The guide](../guide/profiles.md) shows how to write and use one. Choose it with `--profile NAME`, or name any file with `--profile PATH`. A file that you name acts with your rights, like `--config`: read it first.",
    "Two profiles are built in: `default`, which a run without `--profile` uses, and `framework` for work on Harness itself (`--framework`). Your own profiles are `$XDG_CONFIG_HOME/harness/profiles/NAME.toml` (by default `~/.config/harness/profiles`). Nobody else may be able to write them, they are no links, and each has at most 256 KiB. A project brings profiles in `.harness/profiles/NAME.toml`; each of them needs your [ack](../guide/trust.md#files-for-other-agents). Your own profile comes before one of the project with the same name, and no profile can have the name of a built-in one.",
    "If a value is wrong or the profile does not exist, Harness does not start: it prints `ConfigInvalid` and exits with code 2. Harness ignores an unknown key and prints a warning with the most similar known key.",
    "`/profile` shows the profile of a session and where each value comes from. `/profiles:NAME` [continues in a new session](../guide/profiles.md#change-the-profile-of-a-conversation) with another one. `GET /v1/profiles` lists all. Each session of a daemon has a profile of its own (`CreateSession` with `profile`, `harness attach --new --profile NAME`), or that of `harness daemon start --profile NAME`. Only a person can choose another profile than that of the program, by name. A session keeps its profile when it is resumed. If the file changes or disappears meanwhile, the session keeps the version that it was opened with and says so. `harness context --profile NAME` shows what the model would see.",
    "## What a project cannot set",
    "A profile of a project cannot loosen what you or the admin policy set. Harness ignores these values with a warning: `allow` rules, `strict = false`, `allow_project_hooks = true`, `retention`, `mcp_servers` (a project declares servers in `.mcp.json` or `harness.md`), and context sources that your `context_sources` in `config.toml` leaves out. The same holds for the rules of presets that it names.",
    "## An example",
    EXAMPLE,
    ...withInnerTables(profileTable).flatMap(tableSection),
    "## Order",
    "Later wins: built-in profile, `config.toml`, the profile of yours or of the project, `harness.md`, environment variables, flags. Permission rules do not override each other: all of them apply, and the strictest matching rule decides.",
  ]);
}

const EXAMPLE = `\`\`\`toml
# ~/.config/harness/profiles/review.toml
schema_version = 1
name = "review"
default_model = "anthropic:claude-sonnet-5-5"
prompt_header = "Review the change. Do not edit files."
context_sources = ["AGENTS.md", "CLAUDE.md"]
tool_packs = ["fs", "shell"]

[permissions]
allow = ["Bash(git diff *)"]
deny = ["Edit", "Write"]
\`\`\``;
