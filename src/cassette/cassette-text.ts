/**
 * A cassette as text that people review: one JSON document after the other, each beginning and ending at the start of a line. A
 * value that fits is on one line; a text of several lines is written line by line, as `{ "¶": [...] }`. A request to a model says
 * which fields and how many messages it has in common with the one before it in its session.
 */
import { isDeepStrictEqual } from "node:util";
import type { z } from "zod";
import { ReasonError } from "#protocol";
import { CASSETTE_VERSION, type Cassette, type CassetteHead, type Entry, entrySchema, headSchema } from "./entries.ts";

const LINE_CHARS = 120;
const MAX_DEPTH = 100;
const LINES_KEY = "¶";
/** Keys of data that look like it get one more. */
const LOOKS_ALIKE = /^¶+$/;

export function printCassette(head: CassetteHead, entries: readonly Entry[]): string {
  const requests = new Map<string, Record<string, unknown>>();
  const documents = [head, ...entries.map((entry) => shortened(entry, requests)), ejected(entries.length)];
  return `${documents.map((document) => print(document)).join("\n")}\n`;
}

/** Throws CassetteInvalid with the place. */
export function parseCassette(file: string, text: string): Cassette {
  const documents = splitDocuments(file, text);
  const [first, ...rest] = documents;
  if (first === undefined) throw invalid(file, 1, "it is empty");
  const version = (first.value as { cassette?: unknown } | null)?.cassette;
  if (typeof version === "number" && version > CASSETTE_VERSION) {
    const detail = `it has version ${version}, but this version of Harness reads at most ${CASSETTE_VERSION}; use a newer version`;
    throw invalid(file, first.line, detail);
  }
  const head = checked(headSchema, first.value, file, first.line);
  const requests = new Map<string, Record<string, unknown>>();
  const entries: Entry[] = [];
  const lines: number[] = [];
  for (const [index, { value, line }] of rest.entries()) {
    const entry = checked(entrySchema, value, file, line);
    if (entry.type !== "eject") {
      entries.push(lengthened(entry, requests, file, line));
      lines.push(line);
      continue;
    }
    if (entry.entries !== index || index !== rest.length - 1) {
      throw invalid(file, line, `${entry.entries} entries should come before this one and none after it`);
    }
    checkAsks(file, entries, lines);
    return { file, head, entries, lines };
  }
  throw invalid(file, documents.at(-1)?.line ?? 1, "the file is cut off here: its last entry is missing");
}

export function invalid(file: string, line: number, detail: string): ReasonError {
  return new ReasonError("CassetteInvalid", { place: `${file}:${line}`, detail });
}

function ejected(entries: number): Entry {
  return { type: "eject", entries };
}

/** Every answer is to something that was asked before, and each question is asked and ended once. */
function checkAsks(file: string, entries: readonly Entry[], lines: readonly number[]): void {
  const open = new Set<number>();
  let asked = 0;
  for (const [index, entry] of entries.entries()) {
    const line = lines[index] ?? 1;
    if (entry.type === "ask") {
      asked += 1;
      if (entry.ask !== asked) throw invalid(file, line, `ask ${entry.ask} should be ask ${asked}`);
      open.add(entry.ask);
    } else if (entry.type === "say" || entry.type === "end") {
      if (!open.has(entry.ask)) throw invalid(file, line, `nothing waits for this answer to ask ${entry.ask}`);
      if (entry.type === "end") open.delete(entry.ask);
    }
  }
}

interface Shared {
  /** Fields that are as in the request before. */
  readonly same?: readonly string[];
  /** Messages at the beginning that are as in the request before. */
  readonly keeps?: number;
}

/** Remembers the request, and gives back the entry without what it shares with the one before. */
function shortened(entry: Entry, requests: Map<string, Record<string, unknown>>): unknown {
  if (entry.type !== "ask" || entry.of !== "model") return entry;
  const request = entry.request as Record<string, unknown>; // of a model: always an object
  const before = requests.get(entry.session ?? "");
  requests.set(entry.session ?? "", request);
  if (before === undefined) return entry;
  const same = Object.keys(request).filter((key) => key !== "messages" && isDeepStrictEqual(request[key], before[key]));
  const messages = asList(request.messages);
  const old = asList(before.messages);
  let keeps = 0;
  while (keeps < Math.min(messages.length, old.length) && isDeepStrictEqual(messages[keeps], old[keeps])) keeps++;
  const rest = Object.fromEntries(Object.entries(request).filter(([key]) => !same.includes(key)));
  return { ...entry, request: { same, keeps, ...rest, messages: messages.slice(keeps) } };
}

function lengthened(entry: Entry, requests: Map<string, Record<string, unknown>>, file: string, line: number): Entry {
  if (entry.type !== "ask" || entry.of !== "model") return entry;
  if (typeof entry.request !== "object" || entry.request === null) throw invalid(file, line, "request: not an object");
  const before = requests.get(entry.session ?? "");
  const { same = [], keeps = 0, ...own } = entry.request as Shared & Record<string, unknown>; // checked below
  const old = asList(before?.messages);
  if (!Array.isArray(same) || typeof keeps !== "number" || keeps > old.length) {
    throw invalid(file, line, "request: it shares more with the request before than there is");
  }
  const shared = same.map((key): [string, unknown] => {
    if (typeof key !== "string" || before === undefined || !Object.hasOwn(before, key)) {
      throw invalid(file, line, `request.same: the request before has no field ${String(key)}`);
    }
    return [key, before[key]];
  });
  const request = {
    ...Object.fromEntries(shared),
    ...own,
    messages: [...old.slice(0, keeps), ...asList(own.messages)],
  };
  requests.set(entry.session ?? "", request);
  return { ...entry, request };
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

interface Document {
  readonly value: unknown;
  /** From 1. */
  readonly line: number;
}

function splitDocuments(file: string, text: string): Document[] {
  const documents: Document[] = [];
  let open: { line: number; lines: string[] } | undefined;
  for (const [index, line] of text.split("\n").entries()) {
    if (open === undefined && line === "") continue;
    open ??= { line: index + 1, lines: [] };
    open.lines.push(line);
    if (!(line === "}" || (open.lines.length === 1 && line.startsWith("{") && line.endsWith("}")))) continue;
    documents.push({ value: parseJson(file, open.line, open.lines.join("\n")), line: open.line });
    open = undefined;
  }
  if (open !== undefined) throw invalid(file, open.line, "the file is cut off here: the entry does not end");
  return documents;
}

function parseJson(file: string, line: number, text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw invalid(file, line, `not JSON (${error instanceof Error ? error.message : String(error)})`);
  }
  return text.includes(LINES_KEY) ? joinLines(value, file, line, 0) : value;
}

function joinLines(value: unknown, file: string, line: number, depth: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (depth > MAX_DEPTH) throw invalid(file, line, `nested more than ${MAX_DEPTH} levels deep`);
  if (Array.isArray(value)) return value.map((item) => joinLines(item, file, line, depth + 1));
  const fields = Object.entries(value);
  const [only] = fields;
  if (fields.length === 1 && only?.[0] === LINES_KEY && Array.isArray(only[1])) return only[1].join("\n");
  const joined = fields.map(([key, field]): [string, unknown] => {
    return [LOOKS_ALIKE.test(key) ? key.slice(1) : key, joinLines(field, file, line, depth + 1)];
  });
  return Object.fromEntries(joined);
}

function checked<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  file: string,
  line: number,
): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw invalid(file, line, `${issue?.path.join(".") || "entry"}: ${issue?.message ?? "it is not valid"}`);
}

/** JSON for people: on one line where it fits. */
export function print(value: unknown, indent = ""): string {
  if (typeof value === "string" && value.includes("\n")) return printLines(value, indent);
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const short = isFlat(value) ? JSON.stringify(value) : undefined;
  if (short !== undefined && indent.length + short.length <= LINE_CHARS) return short;
  if (!Array.isArray(value)) {
    const quoted = Object.entries(value).map(([key, field]): [string, unknown] => {
      return [LOOKS_ALIKE.test(key) ? LINES_KEY + key : key, field];
    });
    return printObject(Object.fromEntries(quoted), indent);
  }
  const inner = `${indent} `;
  return `[\n${value.map((item) => inner + print(item, inner)).join(",\n")}\n${indent}]`;
}

function printLines(text: string, indent: string): string {
  const lines = text.split("\n").map((line) => `${indent}  ${JSON.stringify(line)}`);
  return `{\n${indent} ${JSON.stringify(LINES_KEY)}: [\n${lines.join(",\n")}\n${indent} ]\n${indent}}`;
}

function printObject(value: Readonly<Record<string, unknown>>, indent: string): string {
  const inner = `${indent} `;
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  const lines = fields.map(([key, field]) => `${inner}${JSON.stringify(key)}: ${print(field, inner)}`);
  return `{\n${lines.join(",\n")}\n${indent}}`;
}

/** Nothing in it has to be written in another way than JSON does. */
function isFlat(value: unknown): boolean {
  if (typeof value === "string") return !value.includes("\n");
  if (typeof value !== "object" || value === null) return true;
  return Array.isArray(value)
    ? value.every(isFlat)
    : Object.entries(value).every(([key, field]) => !LOOKS_ALIKE.test(key) && isFlat(field));
}
