import { expect, test } from "vitest";

import { SessionId } from "./ids.ts";
import { imageTypeOfBase64 } from "./image-type.ts";
import { ReasonError } from "./reasons.ts";
import { parseCommand } from "./schemas.ts";

const base64 = (latin1: string): string => Buffer.from(latin1, "latin1").toString("base64");

test.each([
  ["\x89PNG\r\n\x1a\n", "image/png"],
  ["\xff\xd8\xff\xe0", "image/jpeg"],
  ["GIF89a", "image/gif"],
  ["RIFF1234WEBPVP8 and more than the head of the file", "image/webp"],
  ["<svg/>", undefined],
  ["", undefined],
])("%j is %s", (bytes, type) => {
  expect(imageTypeOfBase64(base64(bytes))).toBe(type);
});

test("text that is not base64 is not an image", () => {
  expect(imageTypeOfBase64("not base64!")).toBeUndefined();
});

test.each([
  ["bytes that are no image", "image/png", "hello"],
  ["no bytes", "image/png", ""],
  ["an image of another type", "image/jpeg", "\x89PNG\r\n\x1a\n"],
])("an input with %s is refused", (_, media_type, bytes) => {
  const session = SessionId.from("01JZ0000000000000000000000");
  const content = [{ type: "image", media_type, data: base64(bytes) }];
  const parse = () => parseCommand({ kind: "SendInput", session, content });
  expect(parse).toThrow(ReasonError);
  expect(parse).toThrow("does not begin as an image of its media_type does → at content[0].data");
});
