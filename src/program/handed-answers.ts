/** An answer about an MCP server on its way to another machine: its files are named from the project, and interpreters stay behind. Pure. */
import { isAbsolute, join, relative } from "node:path";
import type { PinnedFile } from "#artifacts";
import { isInterpreter } from "#session";
import type { LockFile, ServerAnswer } from "#trust";
import { isInside } from "#world";
import type { GivenAnswers } from "./project-servers.ts";

export function handedOn(root: string, answer: ServerAnswer): ServerAnswer {
  return { ...answer, files: answer.files.flatMap((file) => portableFile(root, file)) };
}

/** The interpreter is that of the machine; a file of the project is named from there. */
function portableFile(root: string, { path, real = path, sha256 }: PinnedFile): readonly PinnedFile[] {
  if (isInside(root, path))
    return [{ path: relative(root, path), real: isInside(root, real) ? relative(root, real) : real, sha256 }];
  return isInterpreter(path) ? [] : [{ path, real, sha256 }];
}

/** What a lock file says about the servers of the project in `root`. */
export function handedAnswers(root: string, { servers = [] }: LockFile): GivenAnswers {
  const place = (path: string): string => (isAbsolute(path) ? path : join(root, path));
  const placed = servers.map((answer) => ({
    ...answer,
    files: answer.files.map(({ path, real = path, sha256 }) => ({ path: place(path), real: place(real), sha256 })),
  }));
  return { isHandedOn: true, serverAnswers: () => placed };
}
