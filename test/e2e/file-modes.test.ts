/** Modes of files after a turn and undo; `test/campaigns/file-modes.test.ts` tours the commands. */
import { test } from "vitest";
import { expectPrivateFiles } from "../fakes/file-modes.ts";

test("after a turn, an export and undo, with umask 000", () =>
  expectPrivateFiles((session, folder) => [["sessions", "export", session, "-o", `${folder}/export.jsonl`], ["undo"]]));
