/** Fills in the form of a question in the terminal, field by field. What the server wants of a value is checked by the session. */
import type { FormField } from "#protocol";
import { lineRows } from "./foreign-rows.ts";
import { textsOf } from "./permission-question.ts";
import type { QuestionScreen } from "./terminal.ts";

/** The answer, `decline` where the person wants that, undefined where nobody answers any more. */
export async function fillForm(
  screen: QuestionScreen,
  fields: readonly FormField[],
  settled: AbortSignal,
): Promise<string | undefined> {
  const content: Record<string, unknown> = {};
  for (const field of fields) {
    const line = await screen.readAnswer(promptOf(screen, field), settled);
    if (settled.aborted || line.kind !== "line") return undefined;
    const text = line.text.trim();
    if (text.toLowerCase() === "decline") return "decline";
    const value = text === "" ? field.default : readValue(field, text);
    if (value !== undefined) content[field.name] = value;
  }
  return JSON.stringify(content);
}

function promptOf(screen: QuestionScreen, { name, required, default: preset, options = [] }: FormField): string {
  const choices = options.flatMap(({ value, title }, index) =>
    textsOf(lineRows(screen, `    ${index + 1}. `, title === undefined ? value : `${value} (${title})`)),
  );
  const empty = preset === undefined ? (required ? "" : " (Enter leaves it out)") : ` (Enter: ${String(preset)})`;
  return [...textsOf(lineRows(screen, "  ", `${name}${empty}, or decline`)), ...choices, "  > "].join("\n");
}

/** A number stands for the option of that number. */
function readValue({ type, options = [] }: FormField, text: string): unknown {
  const chosen = (one: string): string => (/^\d+$/.test(one) && options[Number(one) - 1]?.value) || one;
  if (type === "choice") return chosen(text);
  if (type === "choices") return text.split(",").map((one) => chosen(one.trim()));
  return text;
}
