/**
 * The context sources of a project, turn by turn: which apply, what they give, and what of that is new. Each runs as a call that
 * nobody is asked about. What joins is an event; a source that fails is one too, and stops the turn only where the project says so.
 */
import type { DeclaredSource } from "#artifacts";
import { messageOf, READ_RESOURCE_TOOL } from "#base";
import type { PromptBlock } from "#context";
import type { EventBus, JoinedTurn, JoinTurn } from "#engine";
import { type Message, ReasonError, reasonText, textIn } from "#protocol";
import type { LiveSource } from "./live-project.ts";
import { addedTexts } from "./memory.ts";

/** For one source. */
const SOURCE_TIMEOUT_MS = 10_000;
const CHARS_PER_TOKEN = 4;

export interface SessionSources {
  readonly join: JoinTurn;
  blocks(): readonly PromptBlock[];
}

export interface SessionSourcesOptions {
  readonly bus: Pick<EventBus, "publish">;
  /** As the project is now. */
  readonly sources: () => readonly LiveSource[];
  /** What of the conversation the model is shown. */
  readonly visible: (history: readonly Message[]) => readonly Message[];
}

export function createSessionSources({ bus, sources, visible }: SessionSourcesOptions): SessionSources {
  /** By what the source says, so that one that was changed is read anew. */
  const blocks = new Map<string, PromptBlock>();

  async function fail({ source }: LiveSource, turn: JoinedTurn["turn"], detail: string): Promise<void> {
    const { name, place } = source;
    const told = { name, source: `${place.file}:${place.line}`, detail };
    if (source.required) throw new ReasonError("ContextSourceFailed", told);
    const message = reasonText("ContextSourceFailed", told);
    await bus.publish("Error", { turn, reason: "ContextSourceFailed", message, terminal: false });
  }

  async function joinOne(live: LiveSource, joined: JoinedTurn, shown: ReadonlyMap<string, string>): Promise<void> {
    const { source } = live;
    const { turn } = joined;
    const key = keyOf(source);
    if (source.refresh === "session" && blocks.has(key)) return;
    const applies = live.applies();
    if ("error" in applies) return fail(live, turn, applies.error);
    if (!applies.holds) return;
    const given = await read(live, joined);
    if ("failed" in given) return fail(live, turn, given.failed);
    const text = cut(given.text, source.maxTokens);
    const isInPrompt = source.refresh === "session";
    if (isInPrompt) blocks.set(key, sourceBlock(live, text));
    if (text === "" || (!isInPrompt && shown.get(`source ${source.name}`) === text)) return;
    await bus.publish("ContextAdded", {
      ...{ turn, origin: "source", what: source.name, why: whyItApplies(live) },
      content: [{ type: "text", text }],
      ...(isInPrompt ? { in_prompt: true } : {}),
    });
  }

  return {
    async join(joined) {
      const all = sources();
      const kept = new Set(all.map(({ source }) => keyOf(source)));
      for (const key of blocks.keys()) if (!kept.has(key)) blocks.delete(key);
      const shown = addedTexts(visible(joined.history));
      const isStable = ({ source }: LiveSource): boolean => source.refresh === "session";
      for (const live of [...all.filter(isStable), ...all.filter((one) => !isStable(one))]) {
        if (joined.signal.aborted) return;
        await joinOne(live, joined, shown);
      }
    },
    blocks: () => [...blocks.values()].filter(({ text }) => text !== ""),
  };
}

/** What it says, wherever that is written. */
function keyOf(source: DeclaredSource): string {
  return JSON.stringify(source, (key, value: unknown) => (key === "place" ? undefined : value));
}

export function whyItApplies({ source: { when, refresh } }: LiveSource): string {
  const condition = when === undefined ? "always" : `when ${when.text.trim()}`;
  return `${condition}, once for each ${refresh}`;
}

async function read(
  live: LiveSource,
  { call }: Pick<JoinedTurn, "call">,
): Promise<{ readonly text: string } | { readonly failed: string }> {
  const { origin } = live.source;
  switch (origin.kind) {
    case "file":
      return called(call("fs.read", { path: origin.path }, "quiet", SOURCE_TIMEOUT_MS));
    case "command":
      return called(call("exec", { command: origin.command }, "by-rule", SOURCE_TIMEOUT_MS));
    case "resource": {
      const { server, uri } = origin;
      return called(call(READ_RESOURCE_TOOL, { server, uri }, "by-rule", SOURCE_TIMEOUT_MS));
    }
    case "starlark":
      try {
        return { text: live.text?.() ?? "" };
      } catch (error) {
        return { failed: messageOf(error) };
      }
  }
}

async function called(
  calling: ReturnType<JoinedTurn["call"]>,
): Promise<{ readonly text: string } | { readonly failed: string }> {
  const { outcome, content } = await calling;
  const text = textIn(content);
  return outcome === "ok" ? { text } : { failed: text };
}

/** At the end of a line where there is one. */
function cut(text: string, maxTokens: number): string {
  const maxChars = maxTokens * CHARS_PER_TOKEN;
  const whole = text.trimEnd();
  if (whole.length <= maxChars) return whole;
  const kept = whole
    .slice(0, whole.lastIndexOf("\n", maxChars) + 1 || maxChars)
    .toWellFormed()
    .trimEnd();
  return `${kept}\n[cut: ${whole.length - kept.length} more characters]`;
}

function sourceBlock({ source: { name, place } }: LiveSource, text: string): PromptBlock {
  return { kind: "source", name, source: `${place.file}:${place.line}`, priority: 0, text, active: true };
}
