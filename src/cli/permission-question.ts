/** A permission request as a person decides on it: what would run in full, where it would run, and the keys that count. */
import { canonicalHash, canonicalJson, counted, paint, visibleLine } from "#base";
import type { Decision, EventOf } from "#protocol";
import { foreignRows, lineRows, type Row, type Screen } from "./foreign-rows.ts";

type Request = EventOf<"PermissionRequested">["payload"];

export interface PermissionQuestion {
  /** Who wants to run something, and what: all of it. */
  readonly head: readonly string[];
  readonly content: readonly Row[];
  /** Stands between the content and the keys, each time they are shown. */
  readonly facts: readonly string[];
  /** The last line is the prompt. */
  readonly keys: string;
  readonly answers: ReadonlyMap<string, Decision>;
  /** `o, g, t or d`. */
  readonly letters: string;
  /** It would run outside of the sandbox. */
  readonly isOutside: boolean;
}

/** Hex digits of a digest that people compare. */
export const DIGEST_CHARS = 16;
const NAME_CHARS = 40;

export function permissionQuestion(screen: Screen, payload: Request): PermissionQuestion {
  const { summary, args, reason, argv_glob, offers } = payload;
  const label = shortened(payload.label, NAME_CHARS);
  const main = summarised(args, summary);
  const content = [...foreignRows(screen, main), ...argumentRows(screen, args, main)];
  const lines = content.filter(({ endsLine }) => endsLine).length;
  const bytes = Buffer.byteLength(canonicalJson(args ?? null));
  const digest = canonicalHash(args).slice(0, DIGEST_CHARS);
  const isOffered = (decision: Decision): boolean => offers === undefined || offers.includes(decision);
  const glob = argv_glob === undefined || !isOffered("allow_argv_glob") ? undefined : visibleLine(argv_glob);
  const isShortGlob = glob !== undefined && glob.length <= Math.min(NAME_CHARS, screen.columns / 2);
  const choices: (readonly [key: string, word: string, decision: Decision, text: string])[] = [
    ...(isOffered("allow_once") ? [["o", "once", "allow_once", "allow once"] as const] : []),
    ...(glob === undefined
      ? []
      : [["g", "glob", "allow_argv_glob", `allow ${isShortGlob ? glob : "that pattern"} for this session`] as const]),
    ...(isOffered("allow_tool") ? [["t", "tool", "allow_tool", `allow ${label} for this session`] as const] : []),
    ["d", "deny", "deny", "deny"],
  ];
  const letters = choices.map(([key]) => key);
  return {
    head: lineRows(screen, "", `${whoAsks(payload.delegate)}${payload.label} wants to run:`).map(({ text }) =>
      paint(screen, "bold", text),
    ),
    content,
    facts: [
      ...textsOf(lineRows(screen, "  Asked because: ", reason)),
      ...confinementRows(screen, payload),
      ...(glob === undefined || isShortGlob ? [] : textsOf(lineRows(screen, "  [g] would allow: ", argv_glob ?? ""))),
      ...textsOf(lineRows(screen, "  ", `${counted(lines, "line")}, ${grouped(bytes)} bytes · sha256 ${digest}`)),
    ],
    keys: `${keyRows(screen, [...choices.map(([key, , , text]) => `[${key}] ${text}`), "[v] show everything"])}\n  > `,
    answers: new Map([
      ...choices.flatMap(([key, word, decision]) => [[key, decision] as const, [word, decision] as const]),
      ["n", "deny"],
      ["no", "deny"],
    ]),
    letters: `${letters.slice(0, -1).join(", ")} or ${letters.at(-1)}`,
    isOutside: payload.confinement === "outside",
  };
}

/** Nothing for the root agent. Not made visible. */
export function whoAsks(delegate: Request["delegate"]): string {
  if (delegate === undefined) return "";
  return `[delegate ${(delegate.agent || "without a name").slice(0, NAME_CHARS)}, depth ${delegate.depth}] `;
}

export function textsOf(rows: readonly Row[]): string[] {
  return rows.map(({ text }) => text);
}

/** `9,312`. */
export function grouped(count: number): string {
  return count.toLocaleString("en-US");
}

/** The argument that the summary is the beginning of, else the summary itself. */
function summarised(args: unknown, summary: string): string {
  const cutAt = summary.lastIndexOf("… (");
  const isMeant = (value: unknown): value is string =>
    typeof value === "string" &&
    (value === summary ||
      (cutAt > 0 &&
        value.startsWith(summary.slice(0, cutAt)) &&
        summary.slice(cutAt) === `… (${value.length - cutAt} more characters)`));
  return Object.values(args ?? {}).find(isMeant) ?? summary;
}

/** Every argument besides the main one. Their names stand behind a branch of ours, where no content can be. */
function argumentRows(screen: Screen, args: unknown, main: string): Row[] {
  if (typeof args !== "object" || args === null)
    return args == null ? [] : lineRows(screen, "  ├ ", canonicalJson(args));
  return Object.entries(args).flatMap(([name, value]: [string, unknown]) => {
    if (value === main) return [];
    const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
    if (!text.includes("\n")) return lineRows(screen, "  ├ ", `${name}: ${text}`);
    return [...lineRows(screen, "  ├ ", `${name}:`), ...foreignRows(screen, text)];
  });
}

function confinementRows(screen: Screen, { confinement, confinement_text: text, steering = [] }: Request): string[] {
  const isOutside = confinement === "outside";
  const runs = isOutside
    ? "  Runs OUTSIDE the sandbox, with your credentials"
    : `  Runs in: ${confinement} confinement`;
  const reach = text === undefined ? "" : isOutside ? `: ${text}` : ` — ${text}`;
  const where = confinement === undefined ? [] : textsOf(lineRows(screen, runs, reach));
  return [
    ...where.map((row) => (isOutside ? paint(screen, "bold", row) : row)),
    ...steering.flatMap((file) => textsOf(lineRows(screen, "  Would change the steering file: ", file))),
  ];
}

/** A row is broken between two keys, never inside one. */
function keyRows(screen: Screen, keys: readonly string[]): string {
  const rows: string[] = [];
  for (const key of keys) {
    const longer = `${rows.at(-1) ?? ""}  ${key}`;
    if (rows.length > 0 && longer.length < screen.columns) rows[rows.length - 1] = longer;
    else rows.push(...textsOf(lineRows(screen, "  ", key)));
  }
  return rows.join("\n");
}

function shortened(name: string, maxChars: number): string {
  const visible = visibleLine(name);
  return visible.length <= maxChars ? visible : `${visible.slice(0, maxChars - 1)}…`;
}
