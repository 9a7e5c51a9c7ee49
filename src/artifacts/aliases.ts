/** `aliases.toml`: short forms of slash commands, checked as a whole before any of them can be typed. */
import { messageOf } from "#base";
import { isBuiltIn, ReasonError } from "#protocol";
import type { AliasesContent } from "./optional-file.ts";
import { byName, defineTable, error, field, type Reader, textThat, warning } from "./schema.ts";
import { readTomlFile } from "./toml-file.ts";

const MAX_ALIASES = 200;
const MAX_CHARS = 1000;
const NAME = /^[a-z][a-z0-9-]{0,30}$/;

const target = textThat("a slash command such as `/user:review`, in one line", (value) => {
  return /^\/[^\s\p{Cc}]/u.test(value) && value.length <= MAX_CHARS && !/\p{Cc}/u.test(value);
});

export const aliasesTable = defineTable(
  "Aliases",
  "Short forms of slash commands: of your own in your configuration folder, or of a project in `.harness/aliases.toml`, which needs an ack. Those of a project stand for its skills, commands and agents only.",
).of({
  aliases: field(
    byName(target, "alias: small letters, digits and `-`", (name) => NAME.test(name)),
    "none",
  ).means("What each alias stands for. What is typed behind an alias is added to it."),
});

export interface Aliases {
  /** By name, what each stands for in the end: a command with a namespace, and its first arguments. */
  readonly targets: ReadonlyMap<string, string>;
  readonly warnings: readonly string[];
}

/**
 * An alias of an alias is followed. Throws ConfigInvalid for one that hides a built-in command, stands for one, leads in a circle or to
 * an alias that is not there.
 */
export function parseAliases(file: string, text: string): Aliases {
  const { values, warnings } = readTomlFile(file, text, aliasesTable);
  const written = new Map(Object.entries(values.aliases ?? {}));
  const refuse = (why: string): never => {
    throw new ReasonError("ConfigInvalid", `${file}: ${why}`);
  };
  if (written.size > MAX_ALIASES) refuse(`there are more than ${MAX_ALIASES} aliases`);
  const follow = (name: string): string => {
    const passed = new Set<string>();
    let rest = "";
    for (let at = name; ; ) {
      if (passed.has(at)) return refuse(`the alias '${name}' leads in a circle: ${[...passed, at].join(" → ")}`);
      passed.add(at);
      const [, word = "", args = ""] = /^\/(\S*)\s*(.*)$/.exec(written.get(at) ?? "") ?? [];
      rest = [args, rest].filter((part) => part !== "").join(" ");
      const [namespace = "", of = ""] = word.includes(":") ? word.split(/:(.*)/s) : ["", word];
      if (isBuiltIn({ namespace, name: of })) {
        return refuse(`the alias '${name}' stands for /${word}, which is built in: type /${word} itself`);
      }
      if (namespace !== "") return `/${word}${rest === "" ? "" : ` ${rest}`}`;
      if (!written.has(of))
        return refuse(`the alias '${name}' stands for /${word}, which is not an alias in this file`);
      at = of;
    }
  };
  const targets = new Map<string, string>();
  for (const name of written.keys()) {
    if (isBuiltIn({ namespace: "", name })) refuse(`the alias '${name}' would hide the built-in /${name}: rename it`);
    targets.set(name, follow(name));
  }
  return { targets, warnings };
}

/** What a project brings itself: no alias of a repository reaches commands of the user, of sessions or of servers. */
const OF_PROJECT = /^\/(?:skills|project|agents):/;

/** One mistake leaves the whole file out. */
export function readProjectAliases(text: string, reader: Reader): AliasesContent | undefined {
  const place = { file: reader.file, line: 1, column: 1 };
  try {
    const { targets, warnings } = parseAliases(reader.file, text);
    for (const message of warnings) reader.report(warning("unknown-key", place, message));
    const foreign = [...targets].find(([, target]) => !OF_PROJECT.test(target));
    if (foreign === undefined) return { targets: Object.fromEntries(targets) };
    const message = `The alias '${foreign[0]}' stands for ${foreign[1]}. An alias of a project stands for /skills:…, /project:… or /agents:….`;
    reader.report(error("wrong-value", place, message));
  } catch (cause) {
    reader.report(error("wrong-value", place, messageOf(cause)));
  }
  return undefined;
}
