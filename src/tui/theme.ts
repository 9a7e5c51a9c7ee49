/** What colours mean here. A theme is data: one more is one row. */

export type Role = "dim" | "accent" | "good" | "warn" | "bad" | "strong" | "input" | "code" | "heading" | "link";

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
