/** What colours mean here. A theme is data: one more is one row. */

export type Role =
  | ("dim" | "accent" | "good" | "warn" | "bad" | "strong" | "input" | "heading" | "link")
  /** Code without colours of its own, and the pieces of code that has them. */
  | ("code" | "keyword" | "string" | "literal" | "name" | "comment");

export interface Theme {
  readonly name: ThemeName;
  paint(role: Role, text: string): string;
}

export type ThemeName = "dark" | "light" | "high-contrast" | "none";

type Codes = Readonly<Record<Role, string>>;

const DARK: Codes = {
  dim: "2",
  accent: "36",
  good: "32",
  warn: "33",
  bad: "31",
  strong: "1",
  input: "1;36",
  code: "38;5;180",
  keyword: "35",
  string: "32",
  literal: "33",
  name: "36",
  comment: "2",
  heading: "1;35",
  link: "4;36",
};

const codes: Readonly<Record<Exclude<ThemeName, "none">, Codes>> = {
  dark: DARK,
  light: {
    ...DARK,
    dim: "38;5;242",
    warn: "38;5;130",
    good: "38;5;28",
    accent: "38;5;25",
    code: "38;5;94",
    keyword: "35",
    string: "38;5;28",
    literal: "38;5;130",
    name: "34",
    comment: "38;5;242",
    input: "1;38;5;25",
  },
  "high-contrast": {
    ...DARK,
    dim: "0",
    accent: "1;96",
    good: "1;92",
    warn: "1;93",
    bad: "1;91",
    code: "0",
    keyword: "1;95",
    string: "92",
    literal: "93",
    name: "1;96",
    comment: "0",
    heading: "1;4",
  },
};

function createTheme(name: ThemeName): Theme {
  if (name === "none") return { name, paint: (_role, text) => text };
  const chosen = codes[name];
  return {
    name,
    // Styles inside of the text end at its own resets; what follows them is painted again.
    paint: (role, text) => {
      const on = `\u001b[${chosen[role]}m`;
      return text === "" ? "" : `${on}${text.replaceAll("\u001b[0m", `\u001b[0m${on}`)}\u001b[0m`;
    },
  };
}

export const themes: Readonly<Record<ThemeName, Theme>> = {
  dark: createTheme("dark"),
  light: createTheme("light"),
  "high-contrast": createTheme("high-contrast"),
  none: createTheme("none"),
};

/** Asks the terminal for its background (OSC 11); the answer comes as a key sequence. Terminals that do not know it say nothing. */
export const ASK_BACKGROUND = "\u001b]11;?\u001b\\";

/** The theme for a background: light from the middle of the perceived lightness on. */
export function themeFor({ r, g, b }: { readonly r: number; readonly g: number; readonly b: number }): ThemeName {
  return 0.299 * r + 0.587 * g + 0.114 * b > 127 ? "light" : "dark";
}
