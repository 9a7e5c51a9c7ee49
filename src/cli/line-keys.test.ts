import { expect, test } from "vitest";
import { asOneLine, createLineKeys } from "./line-keys.ts";

const bytes = (text: string): Uint8Array => Buffer.from(text);
const paste = (text: string): string => `\u001b[200~${text}\u001b[201~`;

test("a paste of many lines is one line, wherever its bytes are split", () => {
  const typed = Buffer.from(`say: ${paste("één\r\n\ttwo\rthree\n")}!\r`);
  for (let at = 0; at <= typed.length; at++) {
    const keys = createLineKeys();
    const line = keys.take(typed.subarray(0, at)) + keys.take(typed.subarray(at));
    expect(line).toBe("say: één␊␉two␊three␊!\r");
    expect(keys.textOf(line.slice(0, -1))).toBe("say: één\n\ttwo\nthree\n!");
  }
});

test("keys behind Enter wait for the next line, or are dropped", () => {
  const keys = createLineKeys();
  expect(keys.take(bytes("one\rtwo\rthr"))).toBe("one\r");
  expect(keys.take(bytes("ee"))).toBe("");
  expect(keys.begin()).toBe("two\r");
  expect(keys.begin()).toBe("three");
  expect(keys.drop()).toBe(false);
  expect(keys.take(bytes("\rfour"))).toBe("\r");
  expect(keys.drop()).toBe(true);
  expect(keys.begin()).toBe("");
});

test("a long paste is a placeholder; one that is too long is left out, and its end is found", () => {
  const keys = createLineKeys();
  const long = "line\n".repeat(1000);
  const line = keys.take(bytes(`a ${paste(long)} b`));
  expect(line).toBe("a [paste 1: 1001 lines] b");
  expect(keys.textOf(line)).toBe(`a ${long} b`);
  const piece = bytes("x".repeat(600_000));
  expect([keys.take(bytes("\u001b[200~")), keys.take(piece), keys.take(piece)]).toEqual(["", "", ""]);
  expect(keys.take(bytes("\u001b[201~ok"))).toMatch(/^\[a paste of more than \d+ characters was dropped.*\]ok$/);
});

test("a line holds nothing that an editor takes for a command", () => {
  expect(asOneLine("a\u001b[2J\u0003\nb")).toBe("a[2J␊b");
});

test("a paste can be replaced, and Ctrl-V and an empty paste ask for the clipboard", () => {
  let asked = 0;
  const keys = createLineKeys({
    pasted: (text) => (text === "/a.png" ? "[image 1]" : undefined),
    onClipboard: () => {
      asked += 1;
    },
  });
  expect(keys.take(bytes(`see ${paste("/a.png")} and \u0016${paste("")}${paste("b\u0016")}\r`))).toBe(
    "see [image 1] and b\r",
  );
  expect(asked).toBe(2);
});
