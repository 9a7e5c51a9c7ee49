/** Command lines that are handed over as the value of an option, or that follow a word such as `exec`. */
import { RUNNING_OPERANDS, RUNNING_WORDS, SCRIPT_OPTIONS, type ScriptOptions } from "./launchers.ts";
import type { Launch, Launched } from "./wrappers.ts";

/** What the words of a program start through options and subcommands; nothing when none of them is known to. */
export function optionScripts(words: readonly string[], name: string): Launched {
  const launches: Launch[] = [];
  const add = (script: string): void => {
    // An editor's command line begins with a colon, and a shell command in it with an exclamation mark.
    const text = script.replace(/^[:!]+/, "");
    if (text.trim() !== "") launches.push({ script: text, guess: true });
  };
  for (const subject of [name, `${name} ${words[1] ?? ""}`]) {
    const options = Object.hasOwn(SCRIPT_OPTIONS, subject) ? SCRIPT_OPTIONS[subject] : undefined;
    for (const [index, word] of words.entries()) {
      const found = index === 0 || options === undefined ? undefined : optionValue(word, options);
      if (options === undefined || found === undefined) continue;
      const values =
        found.value === undefined ? [words.slice(index + 1).join(" "), words[index + 1] ?? ""] : [found.value];
      for (const value of values) add((options.value === undefined ? value : options.value.exec(value)?.[1]) ?? "");
    }
  }
  // The first word of `tar` may be a cluster without a dash, with the values behind it.
  if (name === "tar" && /^\w*[IF]/.test(words[1] ?? "")) for (const word of words.slice(2, 5)) add(word);
  const short = name === "git" ? { rebase: "-x", grep: "-O" }[words[1] ?? ""] : undefined;
  const shortAt = short === undefined ? -1 : words.findIndex((word, index) => index > 1 && word.startsWith(short));
  if (shortAt > 0) {
    const attached = (words[shortAt] ?? "").slice(2);
    add(attached === "" ? (words[shortAt + 1] ?? ":") : attached);
  }
  if (name === "git" && words[1] === "submodule" && words.includes("foreach")) {
    const rest = words.slice(words.indexOf("foreach") + 1).filter((word) => word !== "--recursive");
    if (rest.length > 0) launches.push({ script: rest.join(" ") });
  }
  launches.push(...runningWords(words, name));
  return launches.length === 0
    ? { launches, transparent: false }
    : { launches, transparent: false, unseen: `${name} starts the program that its options name` };
}

/** The value when it is attached, none when it is the next word; undefined when the word is not such an option. */
function optionValue(word: string, { long = "", short = "", words }: ScriptOptions): { value?: string } | undefined {
  const match = words?.exec(word);
  if (match !== null && match !== undefined) return (match[1] ?? "") === "" ? {} : { value: match[1] ?? "" };
  if (word.startsWith("--")) {
    const cut = word.indexOf("=");
    const stem = word.slice(2, cut < 0 ? word.length : cut);
    if (stem === "" || !long.split(" ").some((name) => name.startsWith(stem))) return undefined;
    return cut < 0 ? {} : { value: word.slice(cut + 1) };
  }
  const at = word.startsWith("-") ? [...word].findIndex((letter, index) => index > 0 && short.includes(letter)) : -1;
  if (at < 0) return undefined;
  const value = word.slice(at + 1).replace(/^=/, "");
  return value === "" ? {} : { value };
}

function runningWords(words: readonly string[], name: string): Launch[] {
  const running = RUNNING_WORDS.find(
    ([program, lead]) => program === name && lead.every((word, index) => words[index + 1] === word),
  );
  if (running === undefined) return [];
  let at = 1 + running[1].length;
  while (running[2].test(words[at] ?? "")) at++;
  at += RUNNING_OPERANDS[name] ?? 0;
  while (words[at] === "--") at++;
  const rest = words.slice(at);
  return rest.length > 0 ? [{ words: rest, from: at, assignments: [], open: false }] : [];
}
