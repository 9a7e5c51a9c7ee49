/**
 * Images in the conversation, for terminals that can draw them: the bytes are part of the first row that an image covers, and blank rows
 * follow. Only rows that are final have them. Everything is checked that goes to the terminal. Pure.
 */
import type { ToolOutputBlock } from "#protocol";
import type { RowStyle } from "./block-rows.ts";

export type ImageProtocol = "kitty" | "iterm2";

/** How images are drawn. */
export interface ImageStyle {
  readonly protocol: ImageProtocol;
  /** Of one image. */
  readonly maxRows: number;
}

export type DrawnImage = Pick<Extract<ToolOutputBlock, { type: "image" }>, "media_type" | "data">;

const MAX_IMAGES = 4;
/** Base64 characters: about a megabyte of image. */
const MAX_DATA_CHARS = 1_400_000;
/** A small file may unpack to a very large picture. */
const MAX_SIDE_PIXELS = 8_192;
const MAX_COLUMNS = 60;
const INDENT = "  ";
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const DRAWN: Readonly<Record<ImageProtocol, readonly string[]>> = {
  kitty: ["image/png"],
  iterm2: ["image/png", "image/jpeg", "image/gif"],
};
const BEGINNINGS = ["\u001b_G", "\u001b]1337;"];
const MARK = /(?:_Ga=T,[^;]*\br=|\]1337;File=[^:]*\bheight=)(\d+)/;

/** What of a content may be drawn: bounded, so that a conversation holds little of it. */
export function imagesOf(content: readonly { readonly type: string }[]): readonly DrawnImage[] {
  return content
    .flatMap((block) => (isImage(block) && block.data.length <= MAX_DATA_CHARS ? [block] : []))
    .slice(0, MAX_IMAGES)
    .map(({ media_type, data }) => ({ media_type, data }));
}

/** The rows that an image takes; none where it cannot be drawn. */
export function imageRows({ media_type: media, data }: DrawnImage, style: RowStyle): readonly string[] {
  const { images, columns, widgets } = style;
  if (images === undefined || !DRAWN[images.protocol].includes(media) || !BASE64.test(data)) return [];
  const size = widgets.getImageDimensions(data, media);
  if (size === null || !isDrawable(size.widthPx) || !isDrawable(size.heightPx)) return [];
  const most = Math.max(1, Math.min(MAX_COLUMNS, columns - 2 * INDENT.length));
  const tall = widgets.calculateImageRows(size, most);
  const rows = Math.max(1, Math.min(tall, images.maxRows));
  const wide = Math.max(1, Math.floor((most * rows) / Math.max(rows, tall)));
  const bytes =
    images.protocol === "kitty"
      ? widgets.encodeKitty(data, { columns: wide, rows, moveCursor: false })
      : `\u001b7${widgets.encodeITerm2(data, { width: wide, height: rows })}\u001b8`;
  return [`${INDENT}${bytes}`, ...Array.from({ length: rows - 1 }, () => "")];
}

/** Of a row with an image, the rows that it covers; 0 for any other row. */
export function imageHeight(row: string): number {
  // No text of a conversation has the character with which a sequence begins.
  return BEGINNINGS.some((begin) => row.includes(begin)) ? Number(MARK.exec(row)?.[1] ?? 0) : 0;
}

function isImage(block: { readonly type: string }): block is Extract<ToolOutputBlock, { type: "image" }> {
  return block.type === "image";
}

function isDrawable(pixels: number): boolean {
  return pixels > 0 && pixels <= MAX_SIDE_PIXELS;
}
