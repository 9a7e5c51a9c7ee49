/** A token in a file: alone, or as `harness token mint --file` writes it. */
import { readFile, stat } from "node:fs/promises";
import { errnoOf, isRecord, messageOf } from "#base";
import { ReasonError } from "#protocol";
import { unreachable } from "../refusal.ts";

const FILE_MAX_BYTES = 64 * 1024;

export async function readTokenFile(file: string, address: string): Promise<string> {
  let text: string;
  try {
    if ((await stat(file)).size > FILE_MAX_BYTES) throw new Error(`it has more than ${FILE_MAX_BYTES} bytes`);
    text = tokenIn(await readFile(file, "utf8"));
  } catch (cause) {
    // A daemon takes the file with it when it ends.
    if (errnoOf(cause) === "ENOENT") throw unreachable(address, `there is no token in ${file}`);
    throw new ReasonError("TokenInvalid", `${file} cannot be read: ${messageOf(cause)}`, { cause });
  }
  if (text === "") throw new ReasonError("TokenInvalid", `${file} is empty`);
  return text;
}

function tokenIn(text: string): string {
  if (!text.startsWith("{")) return text.trim();
  const value: unknown = JSON.parse(text);
  if (!isRecord(value) || typeof value.token !== "string") throw new Error('it has no "token"');
  return value.token;
}
