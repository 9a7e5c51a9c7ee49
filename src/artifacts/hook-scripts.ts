/**
 * Files of the project that the command of a project hook runs: what stands where a program stands, what an interpreter is given,
 * and what is named by the project folder. Each needs an ack of its own, because the command says nothing about what is in it.
 */
import { posix } from "node:path";

const MAX_SCRIPTS = 16;
const INTERPRETERS =
  /^(?:env|ba|da|z|k)?sh$|^(?:env|python[\d.]*|node|deno|bun|run|ruby|perl|php|pwsh|uv|npx|tsx|source|\.|exec|command)$/;
const PROJECT = /^"?\$\{?CLAUDE_PROJECT_DIR\}?"?\//;
const PATH = /^[\p{L}\p{N}_@%+=:,. -][\p{L}\p{N}_@%+=:,./ -]*$/u;

/** Relative to the project; none that leads out of it. */
export function hookScripts(command: string): readonly string[] {
  const found = new Set<string>();
  let isProgram = true;
  for (const token of command.match(/[;|&()\n]+|(?:"[^"]*"|'[^']*'|[^\s;|&()"'])+/g) ?? []) {
    if (/^[;|&()\n]+$/.test(token)) {
      isProgram = true;
      continue;
    }
    const isOfProject = PROJECT.test(token);
    const word = (isOfProject ? token.replace(PROJECT, "") : token).replace(/["']/g, "");
    const isNamed = isOfProject || (isProgram && word.includes("/")) || (isProgram && /\.\w+$/.test(word));
    if (isNamed && PATH.test(word) && !word.startsWith("/")) found.add(posix.normalize(word));
    // Options and assignments in front of a program do not take its place.
    isProgram = isProgram && (INTERPRETERS.test(word) || word.startsWith("-") || /^\w+=/.test(word));
  }
  return [...found].filter((path) => path !== "." && !path.startsWith("../")).slice(0, MAX_SCRIPTS);
}
