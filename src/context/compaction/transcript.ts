/** The part of a conversation that is about to be replaced, as text: for the model that summarises it, and for an excerpt without one. */
import { cutMiddle, cutMiddleBytes } from "#base";
import { bytesOf, type Part, type Said, type Step } from "#engine";
import type { ToolResultBlock } from "#protocol";
import { isBoundary, isStep } from "./plan.ts";

const INPUT_CHARS = 2_000;
const TEXT_CHARS = 3_000;
const ARGUMENT_CHARS = 400;
const RESULT_CHARS = 1_200;
/** Of a line in an excerpt. */
const LINE_CHARS = 160;
/** An excerpt has this part of its room for what the summary before it said. */
const EARLIER_PART = 0.5;

/** Newest parts first, as many as there is room for; given back in order. What people said is cut: it is kept elsewhere. */
export function transcriptOf(replaced: readonly Part[], roomTokens: number): string {
  const parts = replaced.flatMap((part) => {
    if (isBoundary(part)) return [`EARLIER SUMMARY:\n${part.compaction.summary}`];
    if (!isStep(part)) return [`${part.said === undefined ? "NOTE" : "USER"}: ${inputText(part, INPUT_CHARS)}`];
    return [stepText(part)];
  });
  return newest(parts, bytesOf(roomTokens), "\n\n");
}

/** What happened in a few words for each call. Without a model, so that it is always there. */
export function excerptOf(replaced: readonly Part[], roomTokens: number): string {
  const bytes = bytesOf(roomTokens);
  const earlier = replaced.filter(isBoundary).map(({ compaction }) => compaction.summary);
  const before = cutMiddleBytes(earlier.join("\n"), Math.floor(bytes * EARLIER_PART));
  const lines = replaced.filter(isStep).flatMap(stepLines);
  const head = "No model summarised this part. What the agent did, oldest first:";
  const list = newest(lines, bytes - Buffer.byteLength(before) - head.length, "\n");
  return [before, head, list].filter((text) => text !== "").join("\n");
}

function stepText(step: Step): string {
  const lines: string[] = [];
  for (const block of inOrder(step)) {
    if (block.type === "text" && block.text.trim() !== "") lines.push(`AGENT: ${cutMiddle(block.text, TEXT_CHARS)}`);
    if (block.type !== "tool_use") continue;
    lines.push(`CALL ${block.name} ${cutMiddle(JSON.stringify(block.input) ?? "", ARGUMENT_CHARS)}`);
    const result = step.results.get(block.id);
    const number = step.resultIds.get(block.id);
    if (result !== undefined) lines.push(`RESULT ${number} (${stateOf(result)}): ${resultText(result)}`);
  }
  return lines.join("\n");
}

function stepLines(step: Step): string[] {
  return inOrder(step).flatMap((block) => {
    if (block.type === "text" && block.text.trim() !== "") return [`- said: ${line(block.text)}`];
    if (block.type !== "tool_use") return [];
    const result = step.results.get(block.id);
    const end = result === undefined ? "no result" : `${stateOf(result)}, result ${step.resultIds.get(block.id)}`;
    return [`- ${block.name} ${line(JSON.stringify(block.input) ?? "")}: ${end}`];
  });
}

function inOrder({ blocks }: Step) {
  return [...blocks].sort(([a], [b]) => a - b).map(([, block]) => block);
}

function stateOf({ is_error, refused }: ToolResultBlock): string {
  return is_error ? (refused ? "refused" : "error") : "ok";
}

function resultText({ content }: ToolResultBlock): string {
  const text = content.map((block) => (block.type === "text" ? block.text : "[image]")).join("\n");
  return cutMiddle(text, RESULT_CHARS);
}

function inputText({ input, said }: Said, maxChars: number): string {
  const texts = input.map((block) => {
    if (block.type === "image") return "[image]";
    // The words of a file are not those of the person who sent it.
    return said !== undefined && "from" in block ? `[${block.from}]\n${block.text}\n[end of the file]` : block.text;
  });
  return cutMiddle(texts.join("\n"), maxChars);
}

function line(text: string): string {
  return cutMiddle(text.replace(/\s+/g, " ").trim(), LINE_CHARS);
}

/** Whole pieces from the end; says what is missing before them. */
function newest(pieces: readonly string[], maxBytes: number, between: string): string {
  let from = pieces.length;
  for (let left = maxBytes; from > 0; from--) {
    left -= Buffer.byteLength(pieces[from - 1] ?? "") + between.length;
    if (left < 0) break;
  }
  const left = from === 0 ? [] : [`[${from} earlier entries are left out]`];
  return [...left, ...pieces.slice(from)].join(between);
}
