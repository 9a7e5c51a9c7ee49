/** What is used of the widget library, in one module that is loaded on demand: importing it takes a tenth of a second. */
import {
  CURSOR_MARKER,
  Editor,
  Markdown,
  parseKey,
  StdinBuffer,
  truncateToWidth,
  visibleWidth,
  wrapTextWithAnsi,
} from "@earendil-works/pi-tui";
import { lexer } from "marked";

export const widgets = {
  CURSOR_MARKER,
  Editor,
  Markdown,
  parseKey,
  StdinBuffer,
  truncateToWidth,
  visibleWidth,
  wrapTextWithAnsi,
  lexer,
};

export type Widgets = typeof widgets;
