/**
 * Slash commands that the user has written: `commands/*.md` and `aliases.toml` in the configuration folder. Both are read when the
 * program starts. Files that somebody else could have written are refused.
 */
import { join } from "node:path";
import { type CommandContent, loadWordParsers } from "#artifacts";
import type { SlashSource } from "#engine";
import { markdownEntry } from "#session";
import { harnessPaths } from "#stores/keys";
import { namesIn, ownText } from "./own-file.ts";

const COMMANDS_MAX = 200;
const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;

export interface UserWords {
  readonly commands: SlashSource;
  /** By name, what each alias stands for. */
  readonly aliases: ReadonlyMap<string, string>;
  readonly warnings: readonly string[];
}

/** Rejects with ConfigInvalid for aliases that cannot hold. A command that cannot be used is left out, with a warning. */
export async function loadUserWords(env: Readonly<Record<string, string | undefined>>): Promise<UserWords> {
  const { configDir } = harnessPaths(env);
  const { commands, warnings } = await readCommands(join(configDir, "commands"));
  const entries = commands.map((command) => markdownEntry("user", command));
  const aliases = await readAliases(join(configDir, "aliases.toml"));
  return {
    commands: { owner: "your commands", namespaces: ["user"], entries: () => entries },
    aliases: aliases.targets,
    warnings: [...warnings, ...aliases.warnings],
  };
}

async function readAliases(file: string) {
  const text = await ownText(file);
  if (text === undefined) return { targets: new Map<string, string>(), warnings: [] };
  const { parseAliases } = await loadWordParsers();
  return parseAliases(file, text);
}

async function readCommands(folder: string) {
  const files = await namesIn(folder, ".md");
  const commands: CommandContent[] = [];
  const warnings: string[] = [];
  if (files.length > COMMANDS_MAX) warnings.push(`${folder}: only the first ${COMMANDS_MAX} commands are read`);
  for (const fileName of files.slice(0, COMMANDS_MAX)) {
    const file = join(folder, fileName);
    const name = fileName.slice(0, -".md".length);
    if (!NAME.test(name)) {
      warnings.push(`${file}: '${name}' cannot be typed: rename it with small letters, digits, - and _`);
      continue;
    }
    const { parseCommandFile } = await loadWordParsers();
    const parsed = parseCommandFile(file, name, (await ownText(file)) ?? "");
    warnings.push(...parsed.warnings);
    if ("body" in parsed) commands.push(parsed);
  }
  return { commands, warnings };
}
