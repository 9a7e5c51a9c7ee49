/** A question as a person decides on it: exactly what would run, why it is asked, and the rule that each answer would make. */
import { canonicalHash, canonicalJson, counted, visibleLine, visibleLines } from "#base";
import { answersOf, type Question } from "./approval.ts";
import { type RowStyle, wrapped } from "./block-rows.ts";

const DIGEST_CHARS = 16;
const NAME_CHARS = 40;

/** At most `rows` rows. What does not fit is counted, never left out in silence. */
export function questionRows(
  question: Question,
  waiting: number,
  rows: number,
  isTypingAnswer: boolean,
  style: RowStyle,
): string[] {
  return question.kind === "permission"
    ? permissionRows(question.asked, waiting, rows, isTypingAnswer, style)
    : askedRows(question.asked, waiting, rows, style);
}

type Permission = Extract<Question, { kind: "permission" }>["asked"];
type Asked = Extract<Question, { kind: "question" }>["asked"];

function permissionRows(
  asked: Permission,
  waiting: number,
  rows: number,
  isTypingAnswer: boolean,
  style: RowStyle,
): string[] {
  const { theme, columns, widgets } = style;
  const { args, summary, reason, confinement, confinement_text: reach, steering = [] } = asked;
  const bytes = canonicalJson(args ?? null);
  const facts = [
    ...wrapped(`why: ${visibleLine(reason)}`, columns - 2, widgets).map((row) => `  ${row}`),
    ...(confinement === undefined ? [] : confinementRows(confinement, reach, style)),
    ...steering.map((file) =>
      theme.paint("warn", widgets.truncateToWidth(`  changes the steering file ${visibleLine(file)}`, columns)),
    ),
    theme.paint(
      "dim",
      `  ${counted(Buffer.byteLength(bytes), "byte")} · sha256 ${canonicalHash(args).slice(0, DIGEST_CHARS)}`,
    ),
  ];
  const keys = isTypingAnswer
    ? ["  Why not? Enter denies with this reason, Esc goes back."]
    : keyRows(
        [...answersOf(asked).map(({ key, text }) => `[${key}] ${visibleLine(text)}`), "[w] no, and tell it why"],
        style,
      );
  const head = theme.paint(
    "strong",
    rule(`${whoAsks(asked.delegate)}${short(asked.label)} wants to run`, waiting, columns),
  );
  const content = foreign(argsText(args, summary), style);
  const room = Math.max(1, rows - 1 - facts.length - keys.length);
  return [head, ...fitted(content, room, style), ...facts, ...keys];
}

function askedRows(
  { question, options = [], delegate }: Asked,
  waiting: number,
  rows: number,
  style: RowStyle,
): string[] {
  const { theme, columns } = style;
  const head = theme.paint("strong", rule(`${whoAsks(delegate)}asks`, waiting, columns));
  const texts = [question, ...options.map((option, at) => `${at + 1}. ${option}`)].join("\n");
  return [head, ...fitted(foreign(texts, style), Math.max(1, rows - 1), style)];
}

function confinementRows(
  confinement: string,
  reach: string | undefined,
  { theme, columns, widgets }: RowStyle,
): string[] {
  const isOutside = confinement === "outside";
  const runs = isOutside ? "runs OUTSIDE the sandbox, with your credentials" : `runs in: ${confinement} confinement`;
  const text = visibleLine(reach === undefined ? runs : `${runs} (${reach})`);
  return wrapped(text, columns - 2, widgets).map((row) => theme.paint(isOutside ? "bad" : "dim", `  ${row}`));
}

/** The arguments in full: what a person agrees to. */
function argsText(args: unknown, summary: string): string {
  if (typeof args !== "object" || args === null) return args === undefined ? summary : canonicalJson(args);
  const fields = Object.entries(args);
  const [only] = fields;
  if (fields.length === 1 && typeof only?.[1] === "string") return only[1];
  return fields
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join("\n");
}

/** Behind a bar of ours, where no content can be; every hidden character is written out. */
function foreign(text: string, { theme, columns, widgets }: RowStyle): string[] {
  return visibleLines(text)
    .split("\n")
    .flatMap((line) => wrapped(line === "" ? " " : line, columns - 4, widgets))
    .map((row) => `${theme.paint("accent", "  │ ")}${row}`);
}

function fitted(content: readonly string[], room: number, { theme }: RowStyle): readonly string[] {
  if (content.length <= room) return content;
  const more = theme.paint("warn", `  … ${content.length - room + 1} more rows`);
  return [...content.slice(0, room - 1), more];
}

function keyRows(keys: readonly string[], { columns, widgets }: RowStyle): string[] {
  const rows: string[] = [];
  for (const key of keys) {
    const longer = `${rows.at(-1) ?? ""}   ${key}`;
    if (rows.length > 0 && widgets.visibleWidth(longer) <= columns) rows[rows.length - 1] = longer;
    else rows.push(...wrapped(key, columns - 2, widgets).map((row) => `  ${row}`));
  }
  return rows;
}

function rule(title: string, waiting: number, columns: number): string {
  const of = waiting > 1 ? ` 1 of ${waiting} ──` : "";
  const line = `── ${title} `;
  return `${line}${"─".repeat(Math.max(0, columns - line.length - of.length))}${of}`.slice(0, columns);
}

function whoAsks(delegate: Permission["delegate"]): string {
  return delegate === undefined
    ? ""
    : `[delegate ${short(delegate.agent || "without a name")}, depth ${delegate.depth}] `;
}

function short(name: string): string {
  return visibleLine(name).slice(0, NAME_CHARS);
}
