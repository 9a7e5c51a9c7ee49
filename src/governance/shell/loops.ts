/** Reads the loops of a shell command: the words that they go through and the variable that each pass sets. */
import type { CompoundCommand, CompoundList, Word } from "unbash";
import { readArgument } from "./arguments.ts";
import { build, NO_WORDS } from "./build.ts";
import { isOwnVariable, type SimpleCommand } from "./command.ts";
import { forked, type Reading, type Surroundings, unclear } from "./reading.ts";
import { type ReadWord, readWord, type Value } from "./words.ts";

/** Items of a loop that are followed one by one. */
const MAX_LOOP_ITEMS = 20;

/** The variable that `while read -r name` fills, when it is the only one. */
export function readTarget(clause: CompoundList): string | undefined {
  const [only, ...more] = clause.commands;
  const command = only?.command;
  if (command?.type !== "Command" || more.length > 0 || command.name?.value !== "read") return undefined;
  const words = command.args.map((word) => (word.type === "Word" ? word.value : ""));
  const names = words.filter((word) => !/^-r$/.test(word));
  return names.length === 1 && /^[a-z_]\w*$/i.test(names[0] ?? "") ? names[0] : undefined;
}

export function readLoop(
  node: Extract<CompoundCommand, { type: "For" | "Select" }>,
  around: Surroundings,
  reading: Reading,
): SimpleCommand[] {
  if (node.type === "Select") unclear(reading, "select asks at run time");
  const commands: SimpleCommand[] = [];
  const items: ReadWord[] = [];
  if ((node.wordlist?.length ?? 0) > 0) commands.push(...listedNames(node.wordlist ?? [], around, reading));
  for (const word of node.wordlist ?? []) {
    const read = readArgument(word, reading);
    commands.push(...read.commands);
    items.push(...read.words);
  }
  const values = items.map(knownValue);
  const certain =
    items.length > 0 &&
    items.length <= MAX_LOOP_ITEMS &&
    isOwnVariable(node.name.value) &&
    values.every((value) => value !== undefined);
  // A feed stands for all its names at once, and one pass over the body with it is enough.
  for (const value of certain ? values : [undefined]) {
    const inside = forked(reading);
    if (value !== undefined) inside.scope.variables.set(node.name.value, value);
    commands.push(...reading.readers.statements(node.body.commands, around, inside));
    if (inside.scope.folders !== reading.scope.folders) unclear(reading, "a loop changes its folder");
  }
  if (!isOwnVariable(node.name.value))
    unclear(reading, `a loop sets ${node.name.value}, which may change what its commands do`);
  return commands;
}

/** The words of a loop, as the `echo` that would print them: a pattern in them lists files. */
function listedNames(words: readonly Word[], around: Surroundings, reading: Reading): SimpleCommand[] {
  if (!words.some((word) => word.parts?.some((part) => part.type === "Glob") === true)) return [];
  const read = words.flatMap((word) =>
    readWord(word, reading.scope, { unclear: () => undefined, printed: () => undefined }),
  );
  const globs = read.filter(({ glob }) => glob);
  const parsed = {
    ...NO_WORDS,
    words: ["echo", ...globs.map(({ text }) => text)],
    globbed: globs.map((_, index) => index + 1),
  };
  const unknown = globs.flatMap(({ certainty }, index) => (certainty === "unknown" ? [index + 1] : []));
  return [
    build({ ...parsed, dynamic: unknown, unknown, around, open: false, folders: reading.scope.folders }, reading),
  ];
}

export function knownValue({ text, glob, certainty, feed, plain }: ReadWord): Value | undefined {
  if (feed !== undefined) return { kind: "feed", feed };
  if (certainty === "unknown") return plain === true ? { kind: "plain" } : undefined;
  return { kind: glob ? "glob" : "text", text };
}
