/** Takes the words of a command apart into options and operands, as getopt would with a table of the listed options. */
import type { SimpleCommand } from "./command.ts";
import type { ProgramTable } from "./tables.ts";

export interface GivenOption {
  readonly name: string;
  readonly value?: string;
  /** The value is a word of its own, at this index. */
  readonly at?: number;
}

export interface SplitWords {
  readonly options: readonly GivenOption[];
  /** Indexes of the words that are operands. */
  readonly operands: readonly number[];
}

/** A string says which word is not quiet. */
export function splitOptions(
  name: string,
  command: SimpleCommand,
  from: number,
  table: ProgramTable,
): SplitWords | string {
  const { words } = command;
  const globbed = new Set(command.globbed);
  const unknown = new Set(command.unknown);
  const pairs = table.pairs?.split(" ") ?? [];
  const options: GivenOption[] = [];
  const operands: number[] = [];
  const long = (table.long ?? "").split(" ");
  let onlyOperands = table.plainWords === true;
  for (let at = from; at < words.length; at++) {
    const word = words[at] ?? "";
    // A leading `*` or `?` is looked up on the disk: there it is seen whether a name begins with a dash.
    if (globbed.has(at) && !onlyOperands && table.anyOption !== true && /^(?:\[|-(?!-[a-z-]+=))/.test(word)) {
      return `${word} may turn into an option of ${name}`;
    }
    if (onlyOperands || unknown.has(at) || !/^-./.test(word) || (table.expression === true && operands.length > 0)) {
      operands.push(at);
    } else if (word === "--") {
      onlyOperands = true;
    } else if (pairs.includes(word)) {
      const values = [at + 1, at + 2];
      if (values.some((index) => index >= words.length || globbed.has(index) || unknown.has(index)))
        return `${word} of ${name} needs two words that Harness can read`;
      at += 2;
    } else {
      const found = word.startsWith("--") ? longOption(word, long) : shortOptions(word, table);
      if (found === undefined) return `${name} ${word} is not in the list of quiet options`;
      const last = found.at(-1);
      if (last?.wants === true) {
        at++;
        // A name that is only known later would become the value.
        if (at >= words.length && command.open) return `${word} of ${name} has no value`;
        if (words[at]?.startsWith("-") === true && table.dashValues !== true)
          return `${words[at]} may be an option of ${name}`;
        if (globbed.has(at) || unknown.has(at)) return `${words[at] ?? ""} may turn into an option of ${name}`;
        if (at < words.length) last.value = words[at] ?? "";
      }
      for (const { name: option, value, wants } of found) {
        const separate = wants === true && at < words.length ? { at } : {};
        options.push(value === undefined ? { name: option } : { name: option, value, ...separate });
      }
    }
  }
  return { options, operands };
}

interface FoundOption {
  readonly name: string;
  value?: string;
  /** The next word is its value. */
  readonly wants?: boolean;
}

function longOption(word: string, long: readonly string[]): FoundOption[] | undefined {
  const cut = word.indexOf("=");
  const name = cut < 0 ? word : word.slice(0, cut);
  const bare = name.slice(2);
  if (cut < 0) {
    if (long.includes(bare) || long.includes(`${bare}[=]`)) return [{ name }];
    return long.includes(`${bare}=`) ? [{ name, wants: true }] : undefined;
  }
  return long.includes(`${bare}=`) || long.includes(`${bare}[=]`) ? [{ name, value: word.slice(cut + 1) }] : undefined;
}

function shortOptions(word: string, table: ProgramTable): FoundOption[] | undefined {
  if (table.numeric === true && /^-\d+$/.test(word)) return [];
  if (table.words?.split(" ").includes(word) === true) return [{ name: word }];
  if (table.noClusters === true && word.length > 2 && table.valued?.includes(word[1] ?? "") !== true) return undefined;
  const found: FoundOption[] = [];
  for (let index = 1; index < word.length; index++) {
    const letter = word[index] ?? "";
    const rest = word.slice(index + 1);
    if (table.flags?.includes(letter) === true) {
      found.push({ name: `-${letter}` });
    } else if (table.attached?.includes(letter) === true) {
      return [...found, { name: `-${letter}`, value: rest }];
    } else if (table.valued?.includes(letter) === true) {
      return [...found, rest === "" ? { name: `-${letter}`, wants: true } : { name: `-${letter}`, value: rest }];
    } else {
      return undefined;
    }
  }
  return found;
}
