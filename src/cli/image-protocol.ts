/** How the terminal draws images, by what it says of itself; undefined where it may not, and behind a multiplexer. */
import type { InterfaceParts } from "#tui";

type Environment = Readonly<Record<string, string | undefined>>;

export function imageProtocol(env: Environment): InterfaceParts["images"] | undefined {
  const { TERM = "", TERM_PROGRAM: program = "" } = env;
  const isBehind = [env.TMUX, env.STY, env.ZELLIJ].some((value) => value !== undefined);
  if (isBehind || /^(?:screen|tmux)/.test(TERM)) return undefined;
  const isKitty = env.KITTY_WINDOW_ID !== undefined || TERM === "xterm-kitty";
  if (isKitty || TERM === "xterm-ghostty" || program === "ghostty") return "kitty";
  return program === "iTerm.app" || program === "WezTerm" ? "iterm2" : undefined;
}
