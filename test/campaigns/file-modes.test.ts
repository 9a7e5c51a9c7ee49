/** Modes of files after a tour of the commands; `test/e2e/file-modes.test.ts` has the quick part. */
import { test } from "vitest";
import { expectPrivateFiles } from "../fakes/file-modes.ts";

test("after a tour of the commands, with umask 000", () =>
  expectPrivateFiles((session, folder) => [
    ["validate"],
    ["sessions", "branch", session],
    ["sessions", "export", session, "-o", `${folder}/export.jsonl`],
    ["sessions", "export", session, "--format", "markdown", "-o", `${folder}/export.md`],
    ["sessions", "import", `${folder}/export.jsonl`, "--new-id"],
    ["audit", "verify", session],
    ["audit", "anchor", session, "--file", `${folder}/anchors`],
    ["audit", "key"],
    ["undo"],
    ["redo"],
    ["sessions", "expire"],
    ["sessions", "rekey"],
    ["sessions", "doctor"],
    ["cost"],
    ["sandbox", "check"],
    ["demo"],
    ["sessions", "delete", session, "--yes"],
  ]));
