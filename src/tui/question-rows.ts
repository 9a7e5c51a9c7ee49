/** A question as a person decides on it: exactly what would run, why it is asked, and the rule that each answer would make. */
import { canonicalHash, canonicalJson, counted, visibleLine } from "#base";
import { answersOf, type Question, type Questions } from "./approval.ts";
import { type RowStyle, wrapped } from "./block-rows.ts";
import { argsText, changeRows, foreignRows } from "./call-text.ts";
import { changeOf } from "./change.ts";
import { DECLINE } from "./form.ts";
import { ORPHAN_KEYS, type OrphanQuestion } from "./orphan-question.ts";

const DIGEST_CHARS = 16;
const NAME_CHARS = 40;

/** The first question, in at most `rows` rows. What does not fit is counted, never left out in silence. */
export function questionRows(questions: Questions, rows: number, style: RowStyle): string[] {
  const [question] = questions.waiting;
  switch (question?.kind) {
    case "permission":
      return permissionRows(question.asked, questions, rows, style);
    case "question":
      return askedRows(question.asked, questions, rows, style);
    case "plan":
      return planRows(question.plan, questions, rows, style);
    case "orphan":
      return orphanRows(question.asked, questions, rows, style);
    case "ack":
      return ackRows(question.asked, questions, rows, style);
    case "token":
      return tokenRows(question.asked, questions, rows, style);
    case undefined:
      return [];
  }
}

type Permission = Extract<Question, { kind: "permission" }>["asked"];
type Asked = Extract<Question, { kind: "question" }>["asked"];
type Ack = Extract<Question, { kind: "ack" }>["asked"];
type Token = Extract<Question, { kind: "token" }>["asked"];

function permissionRows(
  asked: Permission,
  { waiting, isTypingAnswer }: Questions,
  rows: number,
  style: RowStyle,
): string[] {
  const { theme, columns } = style;
  const change = changeOf(asked);
  const facts = factRows(asked, style);
  const answers = answersOf(asked).map(({ key, text, rule }) => {
    return `[${key}] ${visibleLine(text)}${rule === undefined ? "" : `: rule ${visibleLine(rule)}`}`;
  });
  const looks = [...(change === undefined ? [] : ["[r] review by hunk"]), "[d] details"];
  const keys = isTypingAnswer
    ? keyRows(["Why not? Enter denies with this reason, Esc goes back."], style)
    : [
        ...keyRows(answers.slice(0, -1), style),
        ...keyRows([...answers.slice(-1), "[w] no, and tell it why", ...looks], style),
      ];
  const who = `${whoAsks(asked.delegate)}${short(asked.label)} wants to run`;
  const head = theme.paint("strong", rule(who, waiting.length, columns));
  const content =
    change === undefined
      ? foreignRows(argsText(asked.args, asked.summary), style)
      : changeRows(asked.args, change, style);
  const room = Math.max(1, rows - 1 - facts.length - keys.length);
  return [head, ...fitted(content, room, style, "; [d] shows them"), ...facts, ...keys];
}

/** Why it is asked, where it would run, and which bytes the answer is for. */
export function factRows(asked: Permission, style: RowStyle): string[] {
  const { theme, columns, widgets } = style;
  const { args, reason, confinement, confinement_text: reach, steering = [], scope = "" } = asked;
  const bytes = canonicalJson(args ?? null);
  const folder = scope.startsWith("folder:") ? [`folder ${visibleLine(scope.slice("folder:".length))}`] : [];
  const digest = [counted(Buffer.byteLength(bytes), "byte"), `sha256 ${canonicalHash(args).slice(0, DIGEST_CHARS)}`];
  return [
    ...wrapped(`why: ${visibleLine(reason)}`, columns - 2, widgets).map((row) => `  ${row}`),
    ...(confinement === undefined ? [] : confinementRows(confinement, reach, style)),
    ...steering.map((file) =>
      theme.paint("warn", widgets.truncateToWidth(`  changes the steering file ${visibleLine(file)}`, columns)),
    ),
    theme.paint("dim", widgets.truncateToWidth(`  ${[...folder, ...digest].join(" · ")}`, columns)),
  ];
}

function askedRows(asked: Asked, { waiting, form: progress }: Questions, rows: number, style: RowStyle): string[] {
  const { theme, columns, widgets } = style;
  const { question, options = [], delegate, server, form, url } = asked;
  const asker = delegate === undefined ? "the model asks" : "asks";
  const who = server === undefined ? asker : `MCP server ${short(server)} asks`;
  const head = theme.paint("strong", rule(`${whoAsks(delegate)}${who}`, waiting.length, columns));
  const texts = [question, ...(url === undefined ? [] : [url]), ...options.map((option, at) => `${at + 1}. ${option}`)];
  const field = form?.[progress.at];
  const free = options.length > 0 ? "A number or an answer of your own; Enter sends it." : "Enter sends the answer.";
  const below =
    field === undefined || form === undefined
      ? [style.theme.paint("dim", `  ${free}`)]
      : fieldRows(field, progress.at, form.length, style);
  const problem = progress.problem === "" ? [] : [theme.paint("warn", `  ${visibleLine(progress.problem)}`)];
  const last = [...below, ...problem].map((row) => widgets.truncateToWidth(row, columns));
  return [head, ...fitted(foreignRows(texts.join("\n"), style), Math.max(1, rows - 1 - last.length), style), ...last];
}

function planRows(
  plan: string,
  { waiting, isTypingAnswer, isEditingPlan, form: { problem } }: Questions,
  rows: number,
  style: RowStyle,
): string[] {
  const { theme, columns } = style;
  const keys = isEditingPlan
    ? ["Enter approves the plan as it stands below. Ctrl-G opens it in $EDITOR, Esc goes back."]
    : isTypingAnswer
      ? ["What is wrong with it? Enter sends that to the agent, Esc goes back."]
      : ["[a] approve", "[e] edit and approve", "[w] no, and say why", "[d] all of it"];
  const below = [
    ...(problem === ""
      ? []
      : wrapped(problem, columns - 2, style.widgets).map((row) => theme.paint("warn", `  ${row}`))),
    ...keyRows(keys, style),
  ];
  const head = theme.paint("strong", rule("Approve this plan?", waiting.length, columns));
  // While it is edited, it stands in the editor.
  const content = isEditingPlan ? [] : foreignRows(plan, style);
  return [head, ...fitted(content, Math.max(1, rows - 1 - below.length), style, "; [d] shows them"), ...below];
}

function orphanRows(
  { name, args, started_at: began }: OrphanQuestion["asked"],
  { waiting, isTypingAnswer }: Questions,
  rows: number,
  style: RowStyle,
): string[] {
  const { theme, columns, widgets } = style;
  const keys = isTypingAnswer
    ? ["How far did it get? Enter marks it as failed and tells the model this, Esc goes back."]
    : [...ORPHAN_KEYS.map(([key, text]) => `[${key}] ${text}`), "[w] it failed, and say how far it got"];
  const why = `It was cut off when the program stopped, and nobody knows how far it got. It began at ${began}.`;
  const below = [...wrapped(visibleLine(why), columns - 2, widgets).map((row) => `  ${row}`), ...keyRows(keys, style)];
  const head = theme.paint("strong", rule(`${short(name)} was interrupted`, waiting.length, columns));
  return [head, ...fitted(foreignRows(argsText(args), style), Math.max(1, rows - 1 - below.length), style), ...below];
}

type Field = NonNullable<Asked["form"]>[number];

function fieldRows(field: Field, at: number, count: number, style: RowStyle): string[] {
  const { name, title, description, required, default: preset, options = [], type } = field;
  const empty = preset === undefined ? (required ? "" : "Enter leaves it out") : `Enter: ${String(preset)}`;
  const back = at === 0 ? [] : ["Esc goes back"];
  const notes = [type, empty, ...back, `${DECLINE} refuses`].filter((note) => note !== "").join(" · ");
  const choices = options.map(({ value, title: shown }, index) => {
    return `  ${index + 1}. ${shown === undefined ? value : `${value} (${shown})`}`;
  });
  const texts = [
    `${title ?? name}${required ? " *" : ""}`,
    ...(description === undefined ? [] : [description]),
    ...choices,
  ];
  const head = style.theme.paint("dim", `  field ${at + 1} of ${count}: ${visibleLine(notes)}`);
  return [...foreignRows(texts.join("\n"), style), head];
}

function ackRows(asked: Ack, { waiting }: Questions, rows: number, style: RowStyle): string[] {
  const { theme, columns } = style;
  const { file, sha256, acked, is_optional: isOptional, delegate } = asked;
  const digest = (sha256 ?? acked?.sha256 ?? "").slice(0, DIGEST_CHARS);
  const facts = [
    `${asked.name}: ${asked.power}`,
    ackChange(asked),
    `${counted(asked.lines, "line")} · ${counted(asked.bytes, "byte")} · sha256 ${digest}`,
    ...(isOptional ? ["If you deny it, it is left out until it changes."] : []),
  ];
  const keys = keyRows(["[r] review and answer", "[d] deny", "[l] later"], style);
  const head = theme.paint("strong", rule(`${whoAsks(delegate)}may this file take effect?`, waiting.length, columns));
  const content = [visibleLine(file), ...facts.map(visibleLine)].join("\n");
  return [head, ...fitted(foreignRows(content, style), Math.max(1, rows - 1 - keys.length), style), ...keys];
}

/** What happened to the file since its ack. */
export function ackChange({ change, acked, denied_at: deniedAt, change_class: grave, parts = [] }: Ack): string {
  const since = acked === undefined ? "" : ` since ${acked.at.slice(0, 10)}`;
  if (change === "removed") return "removed: a guard that is gone protects nothing";
  if (deniedAt !== undefined) return `changed: you denied another version on ${deniedAt.slice(0, 10)}`;
  if (change === "new") return "new: not acked on this machine yet";
  if (grave === undefined) return `changed${since}: the version that you acked was not kept`;
  return `changed${since}: ${grave}${parts.length === 0 ? "" : ` (${parts.join(", ")})`}`;
}

function tokenRows(asked: Token, { waiting }: Questions, rows: number, style: RowStyle): string[] {
  const { theme, columns } = style;
  const { code, identity_class, sessions, commands, can_mint, expires_at, confirm_by } = asked;
  const texts = [
    `for: ${identity_class} client, ${sessions === undefined ? "all sessions" : sessions.join(", ")}`,
    `may send: ${commands.join(", ")}${can_mint ? ", and create further tokens" : ""}`,
    `until: ${expires_at}, if it is confirmed before ${confirm_by}`,
  ];
  const last = [
    theme.paint("strong", `  To allow it, give the program this code: ${code}`),
    "  [Enter] close; nothing is allowed by that",
  ].flatMap((row) => wrapped(row, columns, style.widgets));
  const head = theme.paint("strong", rule("a program is requesting a token", waiting.length, columns));
  return [head, ...fitted(foreignRows(texts.join("\n"), style), Math.max(1, rows - 1 - last.length), style), ...last];
}

function confinementRows(
  confinement: string,
  reach: string | undefined,
  { theme, columns, widgets }: RowStyle,
): string[] {
  const isOutside = confinement === "outside";
  const runs = isOutside ? "runs OUTSIDE the sandbox, with your credentials" : `runs in: ${confinement} confinement`;
  return wrapped(visibleLine(reach ?? runs), columns - 2, widgets).map((row) =>
    theme.paint(isOutside ? "bad" : "dim", `  ${row}`),
  );
}

function fitted(content: readonly string[], room: number, { theme }: RowStyle, hint = ""): readonly string[] {
  if (content.length <= room) return content;
  const more = theme.paint("warn", `  … ${content.length - room + 1} more rows${hint}`);
  return [...content.slice(0, room - 1), more];
}

function keyRows(keys: readonly string[], { columns, widgets }: RowStyle): string[] {
  const rows: string[] = [];
  for (const key of keys) {
    const longer = `${rows.at(-1) ?? ""}   ${key}`;
    if (rows.length > 0 && widgets.visibleWidth(longer) <= columns) rows[rows.length - 1] = longer;
    else rows.push(...wrapped(key, columns - 6, widgets).map((row, at) => `${at === 0 ? "  " : "      "}${row}`));
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
