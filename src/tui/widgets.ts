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
  truncateToWidth,
  visibleWidth,
  wrapTextWithAnsi,
} from "@earendil-works/pi-tui";
import { lexer } from "marked";
import { codeCarry, codeLines } from "./code-spans.ts";

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
  truncateToWidth: (text: string, columns: number, ellipsis = "…"): string => truncateToWidth(text, columns, ellipsis),
  visibleWidth,
  wrapTextWithAnsi,
  lexer,
  codeCarry,
  codeLines,
};

export type Widgets = typeof widgets;
