/** What is used of the widget library, in one module that is loaded on demand: importing it takes a tenth of a second. */
import {
  CURSOR_MARKER,
  calculateImageRows,
  Editor,
  encodeITerm2,
  encodeKitty,
  fuzzyFilter,
  getImageDimensions,
  getKeybindings,
  KeybindingsManager,
  Markdown,
  parseKey,
  parseOsc11BackgroundColor,
  StdinBuffer,
  setKeybindings,
  TUI_KEYBINDINGS,
  truncateToWidth as truncateAnyToWidth,
  visibleWidth as visibleWidthOfAny,
  wrapTextWithAnsi as wrapAny,
} from "@earendil-works/pi-tui";
import { lexer } from "marked";
import { codeCarry, codeLines } from "./code-spans.ts";
import { plainWidth } from "./plain-width.ts";

/** What the library answers. Most texts are plain, and need nothing of its tables of Unicode. */
function visibleWidth(text: string): number {
  return plainWidth(text) ?? visibleWidthOfAny(text);
}

function truncateToWidth(text: string, columns: number, ellipsis = "…"): string {
  const width = plainWidth(text);
  return width !== undefined && width <= columns ? text : truncateAnyToWidth(text, columns, ellipsis);
}

function wrapTextWithAnsi(text: string, columns: number): string[] {
  const isStyled = text.includes("\u001b");
  const width = isStyled ? undefined : plainWidth(text);
  return width !== undefined && width <= columns ? [text] : wrapAny(text, columns);
}

export const widgets = {
  CURSOR_MARKER,
  calculateImageRows,
  encodeITerm2,
  encodeKitty,
  getImageDimensions,
  Editor,
  fuzzyFilter,
  getKeybindings,
  KeybindingsManager,
  Markdown,
  parseKey,
  parseOsc11BackgroundColor,
  setKeybindings,
  StdinBuffer,
  TUI_KEYBINDINGS,
  truncateToWidth,
  visibleWidth,
  wrapTextWithAnsi,
  lexer,
  codeCarry,
  codeLines,
};

export type Widgets = typeof widgets;
