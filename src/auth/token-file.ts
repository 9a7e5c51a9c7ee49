/** A token that was put into a file beforehand, for CI and services: read by its owner alone, and by nobody to be changed. */
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { errnoOf, isRecord, jsonIn, messageOf } from "#base";
import { ReasonError } from "#protocol";
import { TOKEN_MAX_CHARS } from "./token.ts";

export const TOKEN_FILE_NAME = "ci-token.json";
export const TOKEN_FILE_MODE = 0o400;
const FILE_MAX_BYTES = TOKEN_MAX_CHARS + 1024;

export function tokenFileText(token: string): string {
  return `${JSON.stringify({ token })}\n`;
}

/** The token in the file; undefined when there is no such file. Throws TokenInvalid for one that cannot be relied on. */
export function readTokenFile(path: string): string | undefined {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw unfit(path, errnoOf(error) === "ELOOP" ? "it is a symbolic link" : messageOf(error));
  }
  try {
    const { mode, size, uid } = fstatSync(file);
    if ((mode & constants.S_IFMT) !== constants.S_IFREG) throw unfit(path, "it is not a regular file");
    if (process.platform !== "win32") {
      if (uid !== process.getuid?.()) throw unfit(path, "it belongs to another user");
      if ((mode & 0o7777) !== TOKEN_FILE_MODE) {
        throw unfit(path, `its mode is ${(mode & 0o7777).toString(8).padStart(4, "0")}; run chmod 400 on it`);
      }
    }
    if (size > FILE_MAX_BYTES) throw unfit(path, `it has more than ${FILE_MAX_BYTES} bytes`);
    return tokenIn(path, readFileSync(file, "utf8"));
  } finally {
    closeSync(file);
  }
}

function tokenIn(path: string, text: string): string {
  const value = jsonIn(text);
  if (value === undefined) throw unfit(path, "it is not JSON");
  if (!isRecord(value) || typeof value.token !== "string") throw unfit(path, 'it has no "token"');
  return value.token;
}

function unfit(path: string, why: string): ReasonError {
  return new ReasonError("TokenInvalid", `the file ${path} cannot be used: ${why}`);
}
