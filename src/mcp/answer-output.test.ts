/** What a server answers as blocks for the model: each kind of content, what is too much of it, and what is none. */
import { expect, test } from "vitest";
import { toolOutput } from "./answer-output.ts";

const PNG = "iVBORw0KGgo=";
const JPEG = "/9j/4AAQ";

type Block = Readonly<Record<string, unknown>>;

const outputOf = (content: readonly Block[], structured?: unknown) =>
  toolOutput({ content, ...(structured !== undefined && { structured }), isError: false }).content;
const text = (value: string) => [{ type: "text", text: value }];

test.each<[string, Block, ReturnType<typeof outputOf>]>([
  ["text", { type: "text", text: "plain" }, [{ type: "text", text: "plain" }]],
  [
    "an image",
    { type: "image", mimeType: "image/JPG", data: JPEG },
    [{ type: "image", media_type: "image/jpeg", data: JPEG }],
  ],
  [
    "an image that no model takes",
    { type: "image", mimeType: "image/tiff", data: "AAAA" },
    [{ type: "text", text: "[image, image/tiff, 3 bytes: not shown]" }],
  ],
  [
    "an image that is no base64",
    { type: "image", mimeType: "image/png", data: "<svg>" },
    [{ type: "text", text: "[image, image/png, 3 bytes: not shown]" }],
  ],
  [
    "a PNG that the server calls a JPEG",
    { type: "image", mimeType: "image/jpeg", data: PNG },
    [{ type: "image", media_type: "image/png", data: PNG }],
  ],
  [
    "bytes that are no image",
    { type: "image", mimeType: "image/png", data: "AAAA" },
    [{ type: "text", text: "[image, image/png, 3 bytes: not shown]" }],
  ],
  [
    "audio",
    { type: "audio", mimeType: "audio/wav", data: "AAAAAAAA" },
    [{ type: "text", text: "[audio, audio/wav, 6 bytes: not shown]" }],
  ],
  [
    "a resource link",
    { type: "resource_link", uri: "file:///a\u001b[2J", name: "a", mimeType: "text/plain" },
    [{ type: "text", text: "[resource link: file:///a⟨U+001B⟩[2J, a, text/plain]" }],
  ],
  [
    "an embedded resource",
    { type: "resource", resource: { uri: "n://1", text: "note" } },
    [{ type: "text", text: "[resource: n://1]\nnote" }],
  ],
  [
    "an embedded image",
    { type: "resource", resource: { uri: "n://1", mimeType: "image/png", blob: PNG } },
    [{ type: "image", media_type: "image/png", data: PNG }],
  ],
  [
    "an embedded file",
    { type: "resource", resource: { uri: "n://1", mimeType: "application/zip", blob: "AAAA" } },
    [{ type: "text", text: "[resource n://1, application/zip, 3 bytes: not shown]" }],
  ],
  [
    "something unknown",
    { type: "hologram" },
    [{ type: "text", text: "[content of the unknown type hologram: not shown]" }],
  ],
])("%s", (_what, block, expected) => {
  expect(outputOf([block])).toEqual(expected);
});

test("structured content is shown, unless its text says the same", () => {
  expect(outputOf([], { sum: 3 })).toEqual(text('{\n "sum": 3\n}'));
  for (const repeated of ['{"sum":3}', '{ "sum": 3 }']) {
    expect(outputOf(text(repeated), { sum: 3 })).toEqual(text(repeated));
  }
  expect(outputOf(text("The sum is 3."), { sum: 3 })).toHaveLength(2);
});

test("is bounded: images, blocks, characters, and an answer without anything", () => {
  const image = { type: "image", mimeType: "image/png", data: PNG };
  expect(outputOf(Array.from({ length: 11 }, () => image)).map(({ type }) => type)).toEqual([
    ...Array.from({ length: 10 }, () => "image"),
    "text",
  ]);
  const blocks = outputOf(Array.from({ length: 1_001 }, () => ({ type: "text", text: "x" })));
  expect(blocks.at(-1)).toEqual({ type: "text", text: "[1 further blocks: not shown]" });
  const [long, ...others] = outputOf([...text("x".repeat(400_001)), ...text("more")]);
  const shown = long?.type === "text" ? long.text : "";
  expect([shown.length < 400_100, shown.endsWith("[… the rest was left out]"), others]).toEqual([true, true, []]);
  expect(outputOf([])).toEqual(text("(empty answer)"));
});
