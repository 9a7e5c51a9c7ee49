/** A rule of a session kept for good: written into the user's configuration file, by one process at a time. */
import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { addAllowRule } from "#artifacts";
import { type Clock, errnoOf } from "#base";
import { ReasonError } from "#protocol";
import { makePrivateDirectory, withFileLock, writePrivateFile } from "#world";

/** `file` need not be there yet. Resolves with it when the disk has the rule. */
export async function keepRule(file: string, clock: Clock, rule: string): Promise<string> {
  makePrivateDirectory(dirname(file));
  const kept = await withFileLock(file, clock, async () => {
    const text = await readFile(file, "utf8").catch((error: unknown) => {
      if (errnoOf(error) === "ENOENT") return "";
      throw error;
    });
    writePrivateFile(file, await addAllowRule(file, text, rule), { durable: true });
  });
  if (kept === undefined) throw new ReasonError("StoreFailed", `another process has locked ${file}`);
  return file;
}
