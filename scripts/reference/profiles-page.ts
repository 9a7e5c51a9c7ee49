/** The page about profiles. */
import { profileTable } from "#artifacts/profile-table";
import { GENERATED, page } from "./markdown.ts";
import { tableSection, withInnerTables } from "./table-sections.ts";

export function profilesPage(): string {
  return page([
    "# Profiles",
    GENERATED,
    "A profile is a TOML file that says how Harness works for one kind of task: model, instructions, context files, MCP servers, tools and permission rules. Choose it with `--profile NAME`, or name any file with `--profile PATH`. A file that you name acts with your rights, like `--config`: read it first.",
    "Two profiles are built in: `default`, which a run without `--profile` uses, and `framework` for work on Harness itself (`--framework`). Your own profiles are `$XDG_CONFIG_HOME/harness/profiles/NAME.toml` (by default `~/.config/harness/profiles`). Nobody else may be able to write them, and each has at most 256 KiB.",
    "If a value is wrong or the profile does not exist, Harness does not start: it prints `ConfigInvalid` and exits with code 2. Harness ignores an unknown key and prints a warning with the most similar known key.",
    "`/profile` shows the active profile, and `GET /v1/profiles` lists all. A session keeps its profile: to resume it, name the same profile again. A daemon has one profile, that of `harness daemon start --profile NAME`, for all of its sessions. `harness context --profile NAME` shows what the model would see.",
    "## An example",
    EXAMPLE,
    ...withInnerTables(profileTable).flatMap(tableSection),
    "## Order",
    "Later wins: built-in profile, `config.toml`, your profile, `harness.md`, environment variables, flags. Permission rules do not override each other: all of them apply, and the strictest matching rule decides.",
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
