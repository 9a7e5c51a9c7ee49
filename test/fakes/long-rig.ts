/** A harness whose conversation soon fills the window of its model: each turn reads a long file and answers at length. */
import { expect } from "vitest";
import { calls, type RigOptions, says } from "./harness-rig.ts";
import type { MockReply } from "./mock-reply.ts";
import { createProjectRig, type ProjectFiles, type ProjectRig } from "./project-rig.ts";

export const WINDOW = 20_000;
/** About 2,000 tokens. */
export const LONG_TEXT = "a line of a file that is long enough\n".repeat(200);
export const SUMMARY = says("The agent reads data.txt again and again; result 12 has it.");

export interface Asked {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

/** The request for a summary is the one that offers no tools. */
export function isSummary(body: unknown): boolean {
  return ((body as Asked).tools ?? []).length === 0;
}

export interface LongOptions {
  readonly summary?: MockReply | (() => MockReply | Promise<MockReply>);
  readonly files?: ProjectFiles;
  /** Of the model; null: nobody knows it. */
  readonly window?: number | null;
  readonly step?: (body: Asked, at: number) => MockReply | undefined;
  readonly rig?: Pick<RigOptions, "store" | "settings" | "undo">;
}

export interface LongRig extends ProjectRig {
  /** Bodies of the requests of steps, and of summaries. */
  readonly steps: readonly Asked[];
  readonly summaries: readonly Asked[];
  /** Turns that read the file once and answer. */
  turns(count: number): Promise<void>;
}

export async function createLongRig({
  summary = SUMMARY,
  files = {},
  window = WINDOW,
  step,
  rig: more = {},
}: LongOptions = {}): Promise<LongRig> {
  const steps: Asked[] = [];
  const summaries: Asked[] = [];
  const model = { model: "openai:mock-model", ...(window !== null && { contextTokens: window }) };
  const rig = await createProjectRig({ "data.txt": LONG_TEXT, ...files }, [], {
    ...more,
    settings: { models: [model], ...more.settings },
    answer(raw) {
      const body = raw as Asked; // what the mock vendor has let pass
      if (isSummary(raw)) {
        summaries.push(body);
        return typeof summary === "function" ? (summary() as MockReply) : summary;
      }
      steps.push(body);
      const own = step?.(body, steps.length);
      if (own !== undefined) return own;
      if (body.messages.at(-1)?.role === "tool") return says(`answer ${steps.length}: ${"word ".repeat(500)}`);
      return calls(["fs_read", { path: "data.txt", limit: 1000 + steps.length }]);
    },
  });
  let sent = 0;
  return {
    ...rig,
    steps,
    summaries,
    async turns(count) {
      for (let n = 0; n < count; n++) {
        sent += 1;
        expect(await rig.send(`request number ${sent}.`)).toMatchObject({ outcome: "answered" });
      }
    },
  };
}

export const textOf = (body: Asked | undefined): string => JSON.stringify(body?.messages);
export const withContext = (context: string): ProjectFiles => ({
  "harness.md": `---\ncontext: {${context}}\n---\n\nBe brief.\n`,
});
