/** The files that join one prompt: those of the project, or those of one of its agents. */
import { posix } from "node:path";
import { BYTES_PER_TOKEN, MAX_CONTEXT_TOKENS } from "./context-sources.ts";
import { optionalFiles } from "./optional-file.ts";
import type { ContextConfig, Project } from "./project.ts";

export interface ContextText {
  readonly path: string;
  readonly text: string;
  /** Why it is not in the prompt. */
  readonly leftOut?: string;
  /** What people should know about it. */
  readonly note?: string;
}

/** In the order in which they are written. */
export function contextTexts(
  { contextFiles }: Pick<Project, "contextFiles">,
  { files }: Pick<ContextConfig, "files">,
): readonly ContextText[] {
  const texts = new Map(contextFiles.map(({ file, text }) => [file, text]));
  return files.flatMap((written) => {
    const path = posix.normalize(written);
    const text = texts.get(path);
    return text === undefined ? [] : [{ path, text }];
  });
}

/** Context files such as `AGENTS.md`, from the root of the repository down; those that are left out among them. */
export function instructionTexts({ optional, leftOut }: Pick<Project, "optional" | "leftOut">): readonly ContextText[] {
  let leftChars = MAX_CONTEXT_TOKENS * BYTES_PER_TOKEN;
  const texts = optionalFiles({ optional }, "instructions").map(({ file: path, content }): ContextText => {
    const { text, cutChars, imports } = content;
    if (text.length > leftChars) {
      return {
        path,
        text,
        leftOut: `the context files before it take the ${MAX_CONTEXT_TOKENS} tokens for all of them`,
      };
    }
    leftChars -= text.length;
    const notes = [
      ...(cutChars === undefined ? [] : [`cut by ${cutChars} characters`]),
      ...(imports.length === 0 ? [] : [`imports are not followed: ${imports.map((name) => `@${name}`).join(", ")}`]),
    ];
    return { path, text, ...(notes.length === 0 ? {} : { note: notes.join("; ") }) };
  });
  const inForce = new Set(texts.map(({ path }) => path));
  const others = leftOut.filter(({ kind, file }) => kind === "instructions" && !inForce.has(file));
  return [...texts, ...others.map(({ file, why }) => ({ path: file, text: "", leftOut: WHY[why] }))];
}

const WHY = {
  denied: "you denied it; harness ack --denied asks again",
  "not-acked": "needs your ack: harness ack",
  broken: "it cannot be read: harness validate says why",
} as const;
