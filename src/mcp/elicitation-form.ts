/** The form that a server wants to have filled in: only the flat fields that MCP allows, bounded, in visible characters. */
import { isRecord, visibleLine } from "#base";
import type { FormField } from "#protocol";

const MAX_FIELDS = 32;
const MAX_OPTIONS = 100;
const MAX_NAME_CHARS = 64;
const MAX_WORDS_CHARS = 500;
/** Of a text that somebody fills in. */
const MAX_VALUE_CHARS = 10_000;
const formats = ["email", "uri", "date", "date-time"] as const;

/** Throws for a schema that is not such a form: the message says what is wrong with it. */
export function readForm(schema: unknown): readonly FormField[] {
  if (!isRecord(schema) || schema.type !== "object" || !isRecord(schema.properties)) {
    throw new Error("the schema of a form is an object with properties");
  }
  const fields = Object.entries(schema.properties);
  if (fields.length === 0 || fields.length > MAX_FIELDS) throw new Error(`a form has 1 to ${MAX_FIELDS} fields`);
  const required = Array.isArray(schema.required) ? schema.required : [];
  return fields.map(([name, field]) => readField(name, field, required.includes(name)));
}

function readField(name: string, field: unknown, required: boolean): FormField {
  if (name.length > MAX_NAME_CHARS || visibleLine(name) !== name || name === "__proto__") {
    throw new Error(`the name of a field has at most ${MAX_NAME_CHARS} visible characters`);
  }
  if (!isRecord(field)) throw new Error(`the field ${name} is not an object`);
  const { title, description } = field;
  const words = {
    ...(typeof title === "string" && { title: short(title) }),
    ...(typeof description === "string" && { description: short(description) }),
  };
  return { name, required, ...words, ...readKind(name, field) };
}

function readKind(name: string, field: Readonly<Record<string, unknown>>): Omit<FormField, "name" | "required"> {
  const { type, format, default: preset } = field;
  const bounds = (min: unknown, max: unknown) => ({
    ...(typeof min === "number" && { min }),
    ...(typeof max === "number" && { max }),
  });
  switch (type) {
    case "string": {
      const options = optionsOf(name, field);
      const value = typeof preset === "string" ? { default: short(preset) } : {};
      if (options !== undefined) return { type: "choice", options, ...value };
      const known = formats.find((one) => one === format);
      if (format !== undefined && known === undefined) throw new Error(`the format of the field ${name} is not known`);
      return { type: "text", ...bounds(field.minLength, field.maxLength), ...(known && { format: known }), ...value };
    }
    case "number":
    case "integer":
      return {
        type,
        ...bounds(field.minimum, field.maximum),
        ...(typeof preset === "number" && { default: preset }),
      };
    case "boolean":
      return { type, ...(typeof preset === "boolean" && { default: preset }) };
    case "array": {
      const options = isRecord(field.items) ? optionsOf(name, field.items) : undefined;
      if (options === undefined) throw new Error(`the field ${name} is a list of something else than choices`);
      const value = Array.isArray(preset) ? { default: preset.map(String).slice(0, MAX_OPTIONS) } : {};
      return { type: "choices", options, ...bounds(field.minItems, field.maxItems), ...value };
    }
    default:
      throw new Error(`the field ${name} is not a text, a number, a boolean or a choice`);
  }
}

function optionsOf(
  name: string,
  { enum: values, enumNames, oneOf, anyOf }: Readonly<Record<string, unknown>>,
): NonNullable<FormField["options"]> | undefined {
  const titled = oneOf ?? anyOf;
  const given = Array.isArray(values)
    ? values.map((value, at) => [value, Array.isArray(enumNames) ? enumNames[at] : undefined])
    : Array.isArray(titled)
      ? titled.map((one) => (isRecord(one) ? [one.const, one.title] : []))
      : undefined;
  if (given === undefined) return undefined;
  if (given.length === 0 || given.length > MAX_OPTIONS)
    throw new Error(`the field ${name} has 1 to ${MAX_OPTIONS} choices`);
  return given.map(([value, title]) => {
    if (typeof value !== "string" || short(value) !== value)
      throw new Error(`a choice of the field ${name} is not a short text`);
    return { value, ...(typeof title === "string" && { title: short(title) }) };
  });
}

type Content = Record<string, string | number | boolean | string[]>;

/** What somebody filled in, or what is wrong with it. */
export function readAnswer(
  fields: readonly FormField[],
  answer: string,
): { readonly content: Content } | { readonly problem: string } {
  const given = valuesIn(fields, answer);
  if (given === undefined) return { problem: "The answer is not a JSON object with the fields of the form." };
  const unknown = Object.keys(given).find((name) => !fields.some((field) => field.name === name));
  if (unknown !== undefined)
    return { problem: `The form has no field ${visibleLine(unknown.slice(0, MAX_NAME_CHARS))}.` };
  const content: Content = {};
  for (const field of fields) {
    const value = given[field.name];
    if (value === undefined || value === "" || value === null) {
      if (field.required) return { problem: `${field.name} is required.` };
      continue;
    }
    const read = readValue(field, value);
    if (read === undefined) return { problem: `${field.name}: ${expected(field)}.` };
    content[field.name] = read;
  }
  return { content };
}

function valuesIn(fields: readonly FormField[], answer: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(answer);
    if (isRecord(value)) return value;
  } catch {
    // Not JSON: the value of the only field.
  }
  const [only, another] = fields;
  return only !== undefined && another === undefined ? { [only.name]: answer.trim() } : undefined;
}

function readValue(field: FormField, value: unknown): Content[string] | undefined {
  const isWithin = (size: number) => size >= (field.min ?? -Infinity) && size <= (field.max ?? Infinity);
  const choices = field.options?.map((option) => option.value) ?? [];
  switch (field.type) {
    case "number":
    case "integer": {
      const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
      if (typeof number !== "number" || !Number.isFinite(number) || !isWithin(number)) return undefined;
      return field.type === "integer" && !Number.isSafeInteger(number) ? undefined : number;
    }
    case "boolean":
      if (typeof value === "boolean") return value;
      return ["true", "false"].includes(String(value).toLowerCase())
        ? String(value).toLowerCase() === "true"
        : undefined;
    case "choice":
      return typeof value === "string" && choices.includes(value) ? value : undefined;
    case "choices": {
      const list = (Array.isArray(value) ? value : String(value).split(",")).map((one) => String(one).trim());
      return list.every((one) => choices.includes(one)) && isWithin(list.length) ? list : undefined;
    }
    default:
      return typeof value === "string" &&
        isWithin(value.length) &&
        value.length <= MAX_VALUE_CHARS &&
        hasForm(field, value)
        ? value
        : undefined;
  }
}

function hasForm({ format }: FormField, text: string): boolean {
  switch (format) {
    case "email":
      return /^[^\s@]+@[^\s@]+$/.test(text);
    case "uri":
      return URL.canParse(text);
    case "date":
      return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text));
    case "date-time":
      return /^\d{4}-\d{2}-\d{2}T/.test(text) && !Number.isNaN(Date.parse(text));
    default:
      return true;
  }
}

/** What a field takes, for a person. */
export function expected({ type, format, min, max, options = [] }: FormField): string {
  const range = [min === undefined ? "" : `at least ${min}`, max === undefined ? "" : `at most ${max}`].filter(Boolean);
  const kinds = {
    text: `text${format === undefined ? "" : ` (${format})`}`,
    number: "number",
    integer: "whole number",
    boolean: "true or false",
    choice: `one of ${options.map(({ value }) => value).join(", ")}`,
    choices: `any of ${options.map(({ value }) => value).join(", ")}, with commas between them`,
  };
  const unit = type === "text" ? " characters" : "";
  return range.length === 0 ? kinds[type] : `${kinds[type]}, ${range.join(" and ")}${unit}`;
}

function short(text: string): string {
  return visibleLine(text.slice(0, MAX_WORDS_CHARS));
}
