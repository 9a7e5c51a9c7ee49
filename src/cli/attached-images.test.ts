import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createAttachedImages } from "./attached-images.ts";

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const BYTES = Buffer.from(PIXEL, "base64");
const IMAGE = { type: "image", media_type: "image/png", data: PIXEL };

function open(clipboard: () => Promise<Uint8Array> = async () => BYTES) {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "harness-images-")));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const cwd = join(home, "work");
  mkdirSync(join(cwd, "docs"), { recursive: true });
  for (const file of ["my shot.png", "work/docs/a.png"]) writeFileSync(join(home, file), BYTES);
  writeFileSync(join(home, "text.png"), "text");
  return { home, images: createAttachedImages({ cwd, env: { HOME: home }, clipboard }) };
}

test("a pasted path becomes a mark, and the image goes where the mark is sent", async () => {
  const { images, home } = open();
  const first = images.fromPaste(`${home}/my\\ shot.png `);
  const second = images.fromPaste("docs/a.png '../my shot.png'");
  expect([first, second]).toEqual(["[image 1: my shot.png]", "[image 2: docs/a.png] [image 3: my shot.png]"]);
  const input = `compare ${first} with ${second}`;
  expect(await images.contentOf(input)).toEqual([IMAGE, IMAGE, IMAGE, { type: "text", text: input }]);
  expect(await images.contentOf(`only ${first}`)).toEqual([IMAGE, { type: "text", text: `only ${first}` }]);
  expect(await images.contentOf("[image 9: none.png]")).toBe("[image 9: none.png]");
});

test("a text that is not an image's path stays text", () => {
  const { images, home } = open();
  for (const text of [`${home}/missing.png`, `see ~/my shot.png`, home, "docs", "docs/a.png is old"]) {
    expect(images.fromPaste(text)).toBe(undefined);
  }
});

test("what cannot be sent says why, and the last ten images are kept", async () => {
  const { images } = open();
  const refused = images.fromPaste("../text.png") ?? "";
  await expect(images.contentOf(refused)).rejects.toThrow("../text.png: this is not a PNG, JPEG, GIF or WebP image");
  for (let count = 0; count < 10; count++) images.fromPaste("docs/a.png");
  await expect(images.contentOf(refused)).rejects.toThrow("is no longer kept");
  expect(await images.contentOf("[image 11: docs/a.png]")).toHaveLength(2);
});

test("the clipboard gives an image, or the reason why there is none", async () => {
  const { images } = open();
  const mark = await images.fromClipboard();
  expect(await images.contentOf(mark)).toEqual([IMAGE, { type: "text", text: "[image 1]" }]);
  await expect(open(async () => Buffer.from("x")).images.fromClipboard()).rejects.toThrow("the clipboard: this is not");
});
