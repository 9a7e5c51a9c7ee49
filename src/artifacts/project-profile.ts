/** A profile of a project as an optional file: checked whole, so that a broken one is left out before anybody names it. */
import { messageOf } from "#base";
import type { ProfileContent } from "./optional-file.ts";
import { isProfileName } from "./profile-name.ts";
import { profileTable } from "./profile-table.ts";
import { error, type Reader, readTable } from "./schema.ts";
import { parseToml } from "./toml-tree.ts";

const ENDING = ".toml";
/** As people read it in a warning. */
const keys = { ...profileTable, title: "profile" };
const MAX_CHARS = 256 * 1024;

export function readProjectProfile(text: string, reader: Reader): ProfileContent | undefined {
  const { file } = reader;
  const stem = file.slice(file.lastIndexOf("/") + 1, -ENDING.length);
  const refuse = (message: string): undefined => {
    return reader.report(error("wrong-profile", { file, line: 1, column: 1 }, message));
  };
  if (!isProfileName(stem)) {
    return refuse(`A profile is called NAME${ENDING}, with at most 32 small letters, digits, - and _.`);
  }
  if (text.length > MAX_CHARS) return refuse(`The profile is larger than ${MAX_CHARS} characters.`);
  try {
    const { name = stem } = readTable(keys, parseToml(file, text).root, reader).values;
    if (name !== stem) return refuse(`name is '${name}', but the file is called ${stem}${ENDING}: make them the same.`);
    return { name, text };
  } catch (cause) {
    return refuse(messageOf(cause));
  }
}
