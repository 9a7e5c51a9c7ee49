/**
 * The home folder that a command sees: an empty one with the toolchains of the person, read-only, and copies of a few settings from
 * which everything but names, addresses and formats was taken out. No key, login or history of the person is in it.
 */
import { readFileSync, realpathSync, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import type { Mount } from "./sandbox.ts";

/** Never `.config`, `.local` or `.cargo` as a whole: logins lie beside the programs there. */
const TOOLCHAINS =
  ".cargo/bin .rustup .pyenv .rbenv .nvm .volta .asdf .sdkman .deno/bin .bun/bin go/bin .local/share/mise .nix-profile".split(
    " ",
  );
const MAX_SETTINGS_BYTES = 64 * 1024;

/** Read-only folders of the home: toolchains, and what the search path names in it. */
export function toolchainMounts(home: string, path: string): Mount[] {
  const named = path.split(":").filter((folder) => isAbsolute(folder) && folder.startsWith(`${home}/`));
  const folders = [...new Set([...TOOLCHAINS.map((name) => join(home, name)), ...named])].filter(
    (folder) => statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true,
  );
  return folders
    .filter((folder) => !folders.some((other) => folder.startsWith(`${other}/`)))
    .map((folder) => ({ from: realpathSync.native(folder), to: folder }));
}

export interface SettingsCopy {
  /** Relative to the home. */
  readonly name: string;
  readonly text: string;
}

/** The settings of the person that programs need and that hold no secret. */
export function settingsCopies(home: string): SettingsCopy[] {
  const read = (...names: string[]): string => names.map((name) => smallText(join(home, name))).join("\n");
  return [
    { name: ".gitconfig", text: gitSettings(read(".config/git/config", ".gitconfig")) },
    { name: ".config/git/ignore", text: read(".config/git/ignore") },
    { name: ".npmrc", text: plainLines(read(".npmrc"), NPM_LINE) },
    { name: ".config/pip/pip.conf", text: plainLines(read(".config/pip/pip.conf", ".pip/pip.conf"), PIP_LINE) },
    { name: ".cargo/config.toml", text: plainLines(read(".cargo/config.toml", ".cargo/config"), CARGO_LINE) },
  ].filter(({ name, text }) => text.trim() !== "" && (name.endsWith("ignore") || text.includes("=")));
}

/** An address without a user in front of its host. */
const ADDRESS = String.raw`(?:sparse\+)?https?://[\w.-]+(?::\d+)?(?:/[\w./~-]*)?`;
const NPM_LINE = new RegExp(`^(?:@[\\w.-]+:)?registry\\s*=\\s*${ADDRESS}$`);
const PIP_LINE = new RegExp(`^(?:\\[(?:global|install)\\]|(?:extra-)?index-url\\s*=\\s*${ADDRESS})$`);
const CARGO_LINE = new RegExp(
  `^(?:\\[(?:source|registries)\\.[\\w"-]+\\]|\\[registry\\]|(?:replace-with|default)\\s*=\\s*"[\\w-]+"|(?:registry|index)\\s*=\\s*"${ADDRESS}")$`,
);

function plainLines(text: string, shape: RegExp): string {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  return lines
    .filter((line) => shape.test(line))
    .map((line) => `${line}\n`)
    .join("");
}

/** Names, addresses and formats; nothing that names a program. */
const GIT_SETTINGS =
  /^(?:user\.(?:name|email)|init\.defaultbranch|pull\.(?:rebase|ff)|push\.default|merge\.(?:conflictstyle|ff)|rebase\.(?:autosquash|autostash)|core\.(?:quotepath|abbrev|autocrlf|eol|safecrlf|precomposeunicode)|log\.(?:date|decorate|abbrevcommit)|format\.pretty|diff\.(?:algorithm|renames|mnemonicprefix)|status\.(?:short|branch|showuntrackedfiles)|color\.\w+|column\.\w+|tag\.sort|branch\.sort|fetch\.prune)$/;
const GIT_SECTION = /^\[([A-Za-z.-]+)\]$/;
const GIT_PAIR = /^([A-Za-z][\w-]*)\s*=\s*(.*)$/;
/** Written with quotes, so that nothing in a value can begin another line. */
const GIT_VALUE = /^[^"\\\p{Cc}]{1,200}$/u;

function gitSettings(text: string): string {
  let section = "";
  const lines: string[] = [];
  for (const line of text.split(/\r?\n/).map((raw) => raw.trim())) {
    const heading = GIT_SECTION.exec(line)?.[1];
    if (heading !== undefined || line.startsWith("[")) section = (heading ?? "").toLowerCase();
    const [, key = "", raw = ""] = GIT_PAIR.exec(line) ?? [];
    const value = raw.replace(/^"(.*)"$/, "$1");
    const name = `${section}.${key.toLowerCase()}`;
    if (GIT_SETTINGS.test(name) && GIT_VALUE.test(value)) lines.push(`[${section}]\n\t${key} = "${value}"\n`);
  }
  return lines.join("");
}

function smallText(path: string): string {
  try {
    const info = statSync(path);
    return info.isFile() && info.size <= MAX_SETTINGS_BYTES ? readFileSync(path, "utf8") : "";
  } catch {
    // Not there, or closed to us: there is nothing to pass on.
    return "";
  }
}
