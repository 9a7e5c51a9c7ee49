/** How the folders of workspaces in the undo store are told apart: by a keyed name, and a sealed note of the path inside. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { errnoOf } from "#base";
import { readPrivateFile, writePrivateFile } from "#world";
import type { Seal } from "./seal.ts";

const NAME = /^[0-9a-f]{32}$/;
const ROOT_FILE = "root";
const ROOT_LABEL = "root 1";

export function workspaceName(seal: Seal, root: string): string {
  return seal.name(`workspace ${root}`).slice(0, 32);
}

/** Names of all folders that hold a workspace; none when there is no store yet. */
export function workspaceNames(directory: string): readonly string[] {
  try {
    return readdirSync(directory).filter((name) => NAME.test(name));
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return [];
    throw error;
  }
}

/** Which workspace the folder is for; undefined when it does not open with this key. */
export function readRoot(folder: string, seal: Seal): string | undefined {
  const sealed = readPrivateFile(join(folder, ROOT_FILE));
  return sealed === undefined ? undefined : seal.open(sealed, ROOT_LABEL)?.toString("utf8");
}

/** The name says nothing about the path; who changes the key has to know it. */
export function writeRoot(folder: string, seal: Seal, root: string): void {
  writePrivateFile(join(folder, ROOT_FILE), seal.seal(Buffer.from(root, "utf8"), ROOT_LABEL), { durable: true });
}
