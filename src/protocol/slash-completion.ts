/**
 * What Tab offers behind a slash, for every client: whole lines that can stand where the typed line is. One of them replaces it; of
 * several the client shows a list. Pure, so that each client completes alike.
 */
import { type SlashCommand, typedWord } from "./slash-commands.ts";

/**
 * In a word without a colon: built-in words, aliases and namespaces (`/skills:`). Behind a namespace: its names. Those that begin with
 * what was typed come first; where none does, those that have its letters in this order. Nothing once arguments have begun.
 */
export function completeSlash(line: string, rows: readonly SlashCommand[]): readonly string[] {
  const typed = /^\/(\S*)$/.exec(line)?.[1];
  if (typed === undefined) return [];
  const colon = typed.indexOf(":");
  const words = colon === -1 ? topLevel(rows) : namesIn(typed.slice(0, colon), rows);
  const beginning = words.filter((word) => word.startsWith(typed));
  const found = beginning.length > 0 ? beginning : words.filter((word) => hasLetters(word, typed));
  return found.map((word) => `/${word}`);
}

function topLevel(rows: readonly SlashCommand[]): readonly string[] {
  const bare = rows.filter(({ namespace }) => namespace === "").map(({ name }) => name);
  const namespaces = rows.filter(({ namespace }) => namespace !== "").map(({ namespace }) => `${namespace}:`);
  return [...new Set([...bare, ...namespaces])].toSorted();
}

function namesIn(namespace: string, rows: readonly SlashCommand[]): readonly string[] {
  return [...new Set(rows.filter((row) => row.namespace === namespace).map(typedWord))].toSorted();
}

function hasLetters(word: string, typed: string): boolean {
  let at = 0;
  for (const letter of word.toLowerCase()) if (letter === typed[at]?.toLowerCase()) at += 1;
  return at === typed.length;
}
