/** Images in the conversation: the bytes for terminals that draw them, nothing for others, and nothing that an image could say to one. */
import { deflateSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { sceneEvent } from "../../test/fakes/golden-screens.ts";
import { SESSION_ID } from "../../test/fakes/interface-parts.ts";
import { entriesFrom } from "./block-log.ts";
import type { RowStyle } from "./block-rows.ts";
import { withEvent } from "./fold.ts";
import { type DrawnImage, type ImageProtocol, imageHeight, imageRows } from "./images.ts";
import { nothingDisplayed, paintFrame } from "./screen-writer.ts";
import { settle } from "./settle.ts";
import { themes } from "./theme.ts";
import { emptyTranscript } from "./transcript.ts";
import { widgets } from "./widgets.ts";

function style(protocol?: ImageProtocol, columns = 80): RowStyle {
  const plain = { columns, theme: themes.none, widgets, nowMs: 0 };
  return protocol === undefined ? plain : { ...plain, images: { protocol, maxRows: 9 } };
}

/** As large as its header says; only that is read here. */
function png(width: number, height: number, more = 0): string {
  const header = Buffer.alloc(25);
  header.writeUInt32BE(13, 0);
  header.write("IHDR", 4);
  header.writeUInt32BE(width, 8);
  header.writeUInt32BE(height, 12);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, header, deflateSync(Buffer.alloc(8)), Buffer.alloc(more)]).toString("base64");
}

const image = (data: string, media_type: DrawnImage["media_type"] = "image/png") =>
  ({ type: "image", media_type, data }) as const;

/** A conversation with one call that gave these blocks, settled. */
function settled(content: readonly object[], protocol?: ImageProtocol) {
  const events = [
    sceneEvent(1, "TurnStarted", { turn: "turn_1", content: [{ type: "text", text: "look" }], model: "m" }),
    sceneEvent(2, "ToolCallStarted", { turn: "turn_1", call_id: "call_1", name: "fs.read", label: "Read", args: {} }),
    sceneEvent(3, "ToolResult", { turn: "turn_1", call_id: "call_1", content, outcome: "ok", duration_ms: 1 }),
  ];
  const before = events.reduce((all, event) => withEvent(all, event, 0), emptyTranscript(SESSION_ID as never, "m"));
  return settle(before, style(protocol));
}

test("kitty gets a PNG in its own protocol, with the cursor left where it is, and blank rows below", () => {
  const data = png(200, 100);
  const [first = "", ...rest] = imageRows(image(data), style("kitty"));
  expect(first).toBe(`  \u001b_Ga=T,f=100,q=2,C=1,c=36,r=9;${data}\u001b\\`);
  expect(rest).toEqual(Array.from({ length: 8 }, () => ""));
  expect([imageHeight(first), widgets.visibleWidth(first)]).toEqual([9, 2]);
});

test("iTerm2 gets an inline file, with the cursor put back", () => {
  const data = png(200, 100);
  const [first = ""] = imageRows(image(data), style("iterm2"));
  expect(first).toContain("\u001b7\u001b]1337;File=inline=1;");
  expect(first.endsWith(`:${data}\u0007\u001b8`)).toBe(true);
  expect(imageHeight(first)).toBe(9);
});

test("a large image goes to kitty in pieces of 4096 characters", () => {
  const rows = imageRows(image(png(10, 10, 9_000)), style("kitty"));
  const pieces = (rows[0] ?? "").split("\u001b_G").slice(1);
  expect(pieces.length).toBe(3);
  for (const piece of pieces) expect(piece.split(";")[1]?.length).toBeLessThanOrEqual(4096 + 2);
});

test("an image of a call is drawn once, when its row is final, and is not kept", () => {
  const { rows, transcript } = settled([image(png(20, 20))], "kitty");
  expect(rows.join("\n")).toContain("\u001b_Ga=T");
  expect(rows.join("\n")).toContain("[image/png]");
  expect(JSON.stringify(entriesFrom(transcript.finished, 0))).not.toContain("iVBOR");
});

describe("nothing is drawn", () => {
  const shown = (content: readonly object[], protocol?: ImageProtocol): string =>
    settled(content, protocol).rows.join("\n");

  test("where the terminal draws no images", () => expect(shown([image(png(20, 20))])).not.toMatch(/_Ga=T|1337/));

  test.each([
    ["data that would end the sequence", image(`${png(20, 20)}\u001b\\\u001b]52;c;aGk=\u0007`)],
    ["data that is no image", image(Buffer.from("<svg onload=x>").toString("base64"))],
    ["another format than it says", image(png(20, 20), "image/jpeg")],
    ["a format that the terminal does not draw", image(png(20, 20), "image/webp")],
    ["a side of a million pixels", image(png(1_000_000, 10))],
    ["no pixels", image(png(0, 10))],
    ["more than a megabyte", image(png(20, 20, 1_100_000))],
  ])("%s", (_, block) => {
    for (const protocol of ["kitty", "iterm2"] as const)
      expect(shown([block], protocol)).not.toMatch(/_Ga=T|1337|\]52/);
  });
});

test("an image is written behind the rows that are erased, and no piece of a long print ends in one", () => {
  const [first = "", ...blank] = imageRows(image(png(100, 100)), style("kitty"));
  const size = { columns: 80, rows: 16 };
  const before = paintFrame(nothingDisplayed, [], { rows: ["old one", "old two", "input"] }, size);
  const { bytes } = paintFrame(before.shown, [first, ...blank], { rows: ["input"] }, size);
  expect(bytes.indexOf("_Ga=T")).toBeGreaterThan(bytes.lastIndexOf("\u001b[K"));
  const many = Array.from({ length: 12 }, (_, at) => `row ${at}`);
  const long = paintFrame(before.shown, [...many, first, ...blank, "last"], { rows: ["input"] }, size).bytes;
  // The image begins a piece of its own: everything before it is written and scrolled by then.
  const image16 = long.slice(0, long.indexOf("_Ga=T"));
  expect(image16.split("\u001b[?2026h").length - 1).toBeGreaterThan(1);
});
