/** A form that a server asks for, filled in field by field. Pure. The session checks the whole answer once more. */
import type { FormField } from "#protocol";

export interface FormProgress {
  readonly values: Readonly<Record<string, unknown>>;
  /** The field that is asked for. */
  readonly at: number;
  /** What was wrong with the last text. */
  readonly problem: string;
}

export const emptyForm: FormProgress = { values: {}, at: 0, problem: "" };
export const DECLINE = "decline";

/** `answer`: that was the last field, or the person declines. */
export function withFormText(
  fields: readonly FormField[],
  progress: FormProgress,
  typed: string,
): FormProgress | { readonly answer: string } {
  const field = fields[progress.at];
  const text = typed.trim();
  if (field === undefined || text.toLowerCase() === DECLINE) return { answer: DECLINE };
  const read = text === "" ? { value: field.default } : readField(field, text);
  if ("problem" in read) return { ...progress, problem: read.problem };
  if (read.value === undefined && field.required) return { ...progress, problem: `${field.name} is required.` };
  const { [field.name]: _, ...others } = progress.values;
  const values = read.value === undefined ? others : { ...others, [field.name]: read.value };
  const at = progress.at + 1;
  return at >= fields.length ? { answer: JSON.stringify(values) } : { values, at, problem: "" };
}

export function previousField(progress: FormProgress): FormProgress {
  return { ...progress, at: Math.max(0, progress.at - 1), problem: "" };
}

type Read = { readonly value: unknown } | { readonly problem: string };

/** A number stands for the option of that number. */
function readField(field: FormField, text: string): Read {
  const { type, name, options = [], min, max } = field;
  const outside = (size: number): boolean => (min !== undefined && size < min) || (max !== undefined && size > max);
  const range = `${min ?? "any"} to ${max ?? "any"}`;
  const chosen = (one: string): string | undefined =>
    options.find(({ value }) => value === one)?.value ??
    (/^\d+$/.test(one) ? options[Number(one) - 1]?.value : undefined);
  switch (type) {
    case "number":
    case "integer": {
      const value = Number(text);
      const isWrong = !Number.isFinite(value) || (type === "integer" && !Number.isInteger(value));
      if (isWrong) return { problem: `${name} takes ${type === "integer" ? "a whole number" : "a number"}.` };
      return outside(value) ? { problem: `${name} takes ${range}.` } : { value };
    }
    case "boolean":
      if (/^(y|yes|true)$/i.test(text)) return { value: true };
      return /^(n|no|false)$/i.test(text) ? { value: false } : { problem: `${name} takes yes or no.` };
    case "choice": {
      const value = chosen(text);
      return value === undefined ? { problem: `${name} takes one of the options.` } : { value };
    }
    case "choices": {
      const values = text.split(",").map((one) => chosen(one.trim()));
      if (values.includes(undefined)) return { problem: `${name} takes options, with commas between them.` };
      return outside(values.length) ? { problem: `${name} takes ${range} options.` } : { value: values };
    }
    case "text":
      return outside(text.length) ? { problem: `${name} takes ${range} characters.` } : { value: text };
  }
}
