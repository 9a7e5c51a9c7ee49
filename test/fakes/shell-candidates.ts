/**
 * An endless stream of shell commands for fuzzing the judge: commands of the corpora with pieces of syntax put in, cut out
 * and joined, and commands that a small grammar makes up. Many of them carry a canary, a command with an effect.
 */
import { readFileSync } from "node:fs";
import { everydayCommands, hostileCommands } from "./shell-corpora.ts";
import type { Rng } from "./shell-transforms.ts";

interface Pieces {
  /** Each changes a file when a shell runs it. */
  readonly canaries: readonly string[];
  /** `C` stands for a canary: places where a shell would run it, and places where it should not. */
  readonly carriers: readonly string[];
  /** The same with programs and builtins that start what their arguments say. */
  readonly launchers: readonly string[];
  readonly tokens: readonly string[];
  readonly names: readonly string[];
  readonly programs: readonly string[];
}

/** What a campaign puts in the place of the usual pieces, or adds to them. */
export interface CandidateOptions {
  readonly canaries?: readonly string[];
  /** Commands that most candidates begin with, instead of everyday ones that only read. */
  readonly bases?: readonly string[];
  /** Whether canaries are also handed to programs and builtins that start what their arguments say. */
  readonly launchers?: boolean;
}

/** The same numbers and options give the same commands. */
export function createCandidates(rng: Rng, options: CandidateOptions = {}): () => string {
  // A file of our own, in this shape.
  const known = JSON.parse(readFileSync(new URL("../corpora/shell-fuzz.json", import.meta.url), "utf8")) as Pieces;
  const pieces: Pieces = {
    ...known,
    canaries: options.canaries ?? known.canaries,
    carriers: options.launchers === true ? [...known.carriers, ...known.launchers] : known.carriers,
  };
  const everyday = everydayCommands();
  const quiet = options.bases ?? everyday.filter(({ expect }) => expect === "quiet").map(({ command }) => command);
  const seeds = [...everyday.map(({ command }) => command), ...hostileCommands().map(({ command }) => command)].filter(
    (command) => command.length < MAX_SEED_CHARS,
  );
  const integer = (below: number): number => Math.floor(rng() * below);
  const pick = <T>(items: readonly T[]): T => items[integer(items.length)] as T;
  const canary = (): string => pick(pieces.canaries);
  const carrier = (): string => pick(pieces.carriers).replaceAll("C", canary());
  const insert = (text: string, piece: string): string => {
    const at = rng() < 0.3 ? text.length : integer(text.length + 1);
    return text.slice(0, at) + piece + text.slice(at);
  };
  const cut = (text: string): string => {
    const at = integer(text.length);
    return text.slice(0, at) + text.slice(at + 1 + integer(4));
  };
  const splice = (left: string, right: string): string =>
    left.slice(0, integer(left.length + 1)) + right.slice(integer(right.length + 1));
  const double = (text: string): string => {
    const at = integer(text.length);
    return insert(text, text.slice(at, at + 1 + integer(8)));
  };
  /** Another option or operand, between words: a file that does not exist is one that some program would write. */
  const extraWord = (text: string): string => {
    const gaps = [...text.matchAll(/ |$/g)].map(({ index }) => index);
    const at = pick(gaps);
    const letter = (): string => pick([..."abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"]);
    const piece = pick([
      `-${letter()}`,
      `-${letter()}${letter()}`,
      `-${letter()} pwned`,
      `-${letter()}pwned`,
      "pwned",
      "pwned more",
      "--",
      "-",
    ]);
    return `${text.slice(0, at)} ${piece}${text.slice(at)}`;
  };
  const word = (depth: number): string => {
    const inner = (): string => (depth <= 0 ? pick(pieces.names) : word(depth - 1));
    switch (integer(14)) {
      case 0:
        return `'${inner().replaceAll("'", "")}'`;
      case 1:
        return `"${inner().replaceAll('"', "")}"`;
      case 2:
        return `$(${statement(depth - 1)})`;
      case 3:
        return `\`${statement(depth - 1).replaceAll("`", "")}\``;
      case 4:
        return `\${x${pick([":-", "-", ":+", "#", "%", "/", ":"])}${inner()}}`;
      case 5:
        return `<(${statement(depth - 1)})`;
      case 6:
        return pick(["$x", "$1", `$${"{x}"}`, "$?", "$((1+2))", "$'a\\tb'", "~", "{a,b}", "*.ts"]);
      case 7:
        return inner() + inner();
      case 8:
        return `\\${pick(["'", '"', "$", "`", " ", "(", ";", "n"])}${inner()}`;
      case 9:
        return carrier();
      default:
        return pick(pieces.names);
    }
  };
  const simple = (depth: number): string => {
    const words = Array.from({ length: integer(4) }, () => word(depth));
    return [pick(pieces.programs), ...words].join(pick([" ", " ", " ", "  ", "\t"]));
  };
  function statement(depth: number): string {
    const inner = (): string => (depth <= 0 ? simple(0) : statement(depth - 1));
    switch (integer(depth <= 0 ? 5 : 16)) {
      case 5:
        return `${inner()}${pick(["; ", " && ", " || ", " | ", "\n", " |& "])}${inner()}`;
      case 6:
        return `(${inner()})`;
      case 7:
        return `{ ${inner()}; }`;
      case 8:
        return `if ${inner()}; then ${inner()}; fi`;
      case 9:
        return `for x in ${word(depth - 1)}; do ${inner()}; done`;
      case 10:
        return `${inner()}${pick([" 2>&1", " >/dev/null", " 2>/dev/null", " <notes.txt", " <<<a"])}`;
      case 11:
        return `${inner()} <<${pick(["E", "'E'", "-E", '"E"', "\\E"])}\n${word(depth - 1)}\nE`;
      case 12:
        return `x=${word(depth - 1)}; ${inner()}`;
      case 13:
        return `! ${inner()}`;
      case 14:
        return `[[ ${word(0)} ${pick(["==", "!=", "-nt", "=~", "<"])} ${word(0)} ]] && ${inner()}`;
      default:
        return simple(depth);
    }
  }
  const base = (): string => (rng() < 0.7 ? pick(quiet) : rng() < 0.7 ? pick(seeds) : statement(2));
  const mutate = (text: string): string => {
    switch (integer(11)) {
      case 9:
      case 10:
        return extraWord(text);
      case 0:
      case 1:
        return insert(text, carrier());
      case 2:
      case 3:
      case 4:
        return insert(text, pick(pieces.tokens));
      case 5:
        return cut(text);
      case 6:
        return splice(text, base());
      case 7:
        return double(text);
      default:
        return `${text}${pick(["; ", " && ", " | ", "\n", " || "])}${base()}`;
    }
  };
  return () => {
    let text = base();
    for (let left = 1 + integer(3); left > 0; left--) text = mutate(text);
    return text.slice(0, MAX_CANDIDATE_CHARS);
  };
}

/** Longer rows test a limit, not a reading. */
const MAX_SEED_CHARS = 400;
const MAX_CANDIDATE_CHARS = 1500;
