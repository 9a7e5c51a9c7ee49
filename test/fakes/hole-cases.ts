/** One attempt of the campaign about holes: what is tried, through which part of the program, and where it is written down. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { ALPHABETS, type SeededRandom } from "../corpora/seeded-random.ts";

/** `allow Bash(git *)`. */
type RuleText = string;

interface Attempted {
  /** Its number in the list of holes. */
  readonly hole: number;
  readonly name: string;
}

/**
 * Commands and texts hold slots: `%CMD%` makes the marker of the case, `%MARK%` is its name, `%OUT%` and `%HOME%` are folders outside the
 * workspace, `%SOCKET:place%` is a socket that somebody listens on.
 */
export interface CommandCase extends Attempted {
  readonly kind: "command";
  readonly command: string;
  readonly rules?: readonly RuleText[];
  readonly domains?: readonly string[];
  /** Every question is answered with yes, so that only the confinement is left. */
  readonly autoApprove?: true;
  /** Files that the repository brings, by path; a text that begins with `-> ` is a link, and `dir` is an empty folder. */
  readonly plant?: Readonly<Record<string, string>>;
}

export interface SessionsCase extends Attempted {
  readonly kind: "sessions";
  /** Where sessions of the same program are opened first: `/`, `HOME`, `poisoned`. */
  readonly before: readonly string[];
  /** Every question about it is answered with yes. */
  readonly command: string;
}

export interface FileCase extends Attempted {
  readonly kind: "file";
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly rules?: readonly RuleText[];
  /** Default: rules. */
  readonly by?: "rules" | "auto-approve" | "session rule";
}

export interface FolderCase extends Attempted {
  readonly kind: "folder";
  readonly folder: string;
}

export interface JudgedCase extends Attempted {
  readonly kind: "judged";
  readonly command: string;
  readonly rules?: readonly RuleText[];
}

export interface QuestionCase extends Attempted {
  readonly kind: "question";
  readonly command: string;
  readonly columns?: number;
  readonly rows?: number;
}

export interface KeysCase extends Attempted {
  readonly kind: "keys";
  readonly typed: string;
}

export interface OlderCase extends Attempted {
  readonly kind: "older";
  readonly store: "sqlite" | "jsonl";
  /** Turns in the copy, and turns after it. */
  readonly turns: number;
  readonly later: number;
}

export interface EncodedCase extends Attempted {
  readonly kind: "encoded";
  /** Prints `notes.txt`, which holds the known key behind `before`, in another form. */
  readonly command: string;
  readonly before: string;
}

export interface ValueCase extends Attempted {
  readonly kind: "value";
  /** `{alphabet:count}` is a random run, `{=text}` is a fixed part of the secret; text outside of braces is not secret. */
  readonly text: string;
}

export type HoleCase =
  | CommandCase
  | SessionsCase
  | FileCase
  | FolderCase
  | JudgedCase
  | QuestionCase
  | KeysCase
  | OlderCase
  | EncodedCase
  | ValueCase;

export interface HoleCorpus {
  readonly seed: number;
  readonly cases: readonly HoleCase[];
}

/** The holes as they were found. */
export function readHoles(): HoleCorpus {
  const file = resolve(import.meta.dirname, "../corpora/holes.json");
  return JSON.parse(readFileSync(file, "utf8")) as HoleCorpus;
}

export function fillSlots(text: string, slots: Readonly<Record<string, string>>): string {
  const filled = text.replaceAll("%CMD%", "touch %MARK%");
  return filled.replace(/%([A-Z]+(?::[a-z]+)?)%/g, (whole, name: string) => slots[name] ?? whole);
}

/** A line as its template says, and the longest part of it that must not leave. */
export function fillValue(template: string, random: SeededRandom): { readonly text: string; readonly secret: string } {
  let secret = "";
  const text = template.replace(/\{(?:=([^}]*)|(\w+):(\d+))\}/g, (_, fixed?: string, alphabet = "", count = "") => {
    const part = fixed ?? random.chars(ALPHABETS[alphabet as keyof typeof ALPHABETS], Number(count));
    if (fixed === undefined && part.length > secret.length) secret = part;
    return part;
  });
  return { text, secret };
}
