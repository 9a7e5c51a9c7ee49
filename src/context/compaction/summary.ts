/** Asks a model to summarise what is about to be replaced. Its answer is data like what it is made from, and may be unusable. */
import type { AsideAnswer, ModelRequest, Part } from "#engine";
import { textTokens } from "#engine";
import type { SessionId } from "#protocol";
import { delimit } from "../delimiters.ts";
import { UNTRUSTED_NOTICE } from "../untrusted.ts";
import { transcriptOf } from "./transcript.ts";

const SUMMARY_PROMPT = `You summarise the first part of a conversation between a user and an agent that works on the user's machine through tools. The agent goes on with your summary in place of that part, so it must be able to continue the work from it alone.

Write these sections, and leave out a section that has nothing in it: Goal and state of the work. Decisions and their reasons. Files, with what was learned or changed in each. Commands and what they showed. Errors and how they were solved. What is left to do. Keep exact names, paths, numbers, identifiers and commands. Name a result that may be needed again by its number, as "result 123". Do not repeat what the user said word for word: that is kept. Do not call tools. Answer with the summary and nothing else.`;

/** For thinking as well; the text itself has to fit into its share. */
const MAX_OUTPUT_TOKENS = 8_000;
/** Of the limit: vendors refuse a request that leaves less than its answer may have. */
const OUTPUT_PART = 0.3;
/** Of the limit, for what the model is shown. */
const TRANSCRIPT_PART = 0.6;

export interface SummaryOptions {
  readonly session: SessionId;
  readonly model: string;
  readonly focus: string | undefined;
  readonly replaced: readonly Part[];
  /** The largest request that the model should get. */
  readonly limitTokens: number;
  /** The largest summary. */
  readonly roomTokens: number;
}

export function summaryRequest(options: SummaryOptions): ModelRequest {
  const { session, model, focus, replaced, limitTokens, roomTokens } = options;
  const transcript = transcriptOf(replaced, limitTokens * TRANSCRIPT_PART);
  const wish = focus === undefined ? "" : `\n\nThe user asks you to keep above all: ${focus}`;
  const task = `Summarise this part of the conversation in at most ${Math.floor(roomTokens / 2)} words.${wish}`;
  const data = delimit(transcript, { about: [session, "transcript", transcript], from: "transcript" });
  return {
    model,
    system: [SUMMARY_PROMPT, UNTRUSTED_NOTICE],
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: task },
          { type: "text", text: data },
        ],
      },
    ],
    tools: [],
    maxTokens: Math.min(MAX_OUTPUT_TOKENS, Math.floor(limitTokens * OUTPUT_PART)),
  };
}

/** Why an answer cannot stand for what it replaces; undefined when it can. */
export function unusable({ outcome, text, calls }: AsideAnswer, replacedTokens: number, roomTokens: number) {
  if (outcome.type === "failed") return `the model failed: ${outcome.reason}: ${outcome.message}`;
  if (text.trim() === "") return calls > 0 ? "the model called tools instead" : "the model wrote nothing";
  const tokens = textTokens(text);
  if (tokens >= replacedTokens) return "its summary is larger than what it replaces";
  // Twice the room: models count words, not tokens.
  return tokens > roomTokens * 2 ? "its summary is too long" : undefined;
}
