/** Which terminals get images. */
import { expect, test } from "vitest";
import { imageProtocol } from "./image-protocol.ts";

test.each([
  [{ TERM: "xterm-kitty", KITTY_WINDOW_ID: "1" }, "kitty"],
  [{ TERM: "xterm-ghostty", TERM_PROGRAM: "ghostty" }, "kitty"],
  [{ TERM: "xterm-256color", TERM_PROGRAM: "iTerm.app" }, "iterm2"],
  [{ TERM: "xterm-256color", TERM_PROGRAM: "WezTerm" }, "iterm2"],
  [{ TERM: "tmux-256color", TERM_PROGRAM: "tmux", KITTY_WINDOW_ID: "1" }, undefined],
  [{ TERM: "xterm-kitty", TMUX: "/tmp/tmux" }, undefined],
  [{ TERM: "screen", STY: "1", TERM_PROGRAM: "iTerm.app" }, undefined],
  [{ TERM: "xterm-256color", TERM_PROGRAM: "vscode" }, undefined],
  [{}, undefined],
] as const)("%j: %s", (env, protocol) => expect(imageProtocol(env)).toBe(protocol));
