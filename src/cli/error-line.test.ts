import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { messageOf } from "#base";
import { ReasonError } from "#protocol";
import { reasonOf, withReason } from "./error-line.ts";

describe("an error that ended a command", () => {
  it.each([
    [join(tmpdir(), "not", "there"), "does not exist."],
    [tmpdir(), "is a directory."],
  ])("of the file system has a reason: %s %s", (path, text) => {
    const error = withReason(thrownBy(() => readFileSync(path)));
    expect({ reason: reasonOf(error), message: messageOf(error) }).toEqual({
      reason: "FileFailed",
      // A read that fails later does not name its path.
      message: expect.stringMatching(new RegExp(`^(?:${path}|a file) ${text}$`)),
    });
  });

  it("of the network, or of the program itself, stays what it is", async () => {
    const refused = await new Promise((resolve) => connect(join(tmpdir(), "no.sock")).once("error", resolve));
    for (const error of [refused, new TypeError("x is undefined"), "text", new ReasonError("UsageInvalid")]) {
      expect(withReason(error)).toBe(error);
    }
    expect(reasonOf(new TypeError("x is undefined"))).toBe("InternalError");
  });
});

function thrownBy(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}
