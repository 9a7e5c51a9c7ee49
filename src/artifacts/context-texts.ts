/** The files that join one prompt: those of the project, or those of one of its agents. */
import { posix } from "node:path";
import type { ContextConfig, Project } from "./project.ts";

/** In the order in which they are written. */
export function contextTexts(
  { contextFiles }: Pick<Project, "contextFiles">,
  { files }: Pick<ContextConfig, "files">,
): readonly { readonly path: string; readonly text: string }[] {
  const texts = new Map(contextFiles.map(({ file, text }) => [file, text]));
  return files.flatMap((written) => {
    const path = posix.normalize(written);
    const text = texts.get(path);
    return text === undefined ? [] : [{ path, text }];
  });
}
