import { describe, expect, it } from "vitest";
import type { EventDraft, SessionMeta } from "#engine";
import { type Event, EXPIRED_CONTENT } from "#protocol";
import { callDrafts, callId, draft, sessionStarted, turnDrafts, turnId } from "../../test/fakes/session-drafts.ts";
import { NOW, newSession, sessionId } from "../../test/store-suite.ts";
import { fence, inline, prose, quote, shorten } from "./markdown.ts";
import { transcript } from "./transcript.ts";

const meta: SessionMeta = {
  ...newSession(1),
  updatedAt: NOW,
  title: "Greeting *fix*",
  state: "active",
  pinned: false,
  parent: sessionId(7),
  lastEventId: 9,
};

async function render(drafts: readonly EventDraft[], timing = true): Promise<string> {
  // A draft with an id and a session is an event of the same kind.
  const events = drafts.map((one, index) => ({ id: index + 1, session: sessionId(1), ...one }) as Event);
  const source = async function* () {
    yield* events;
  };
  const parts = await Array.fromAsync(transcript(meta, source(), { timing }));
  return parts.map(({ text }) => text).join("\n\n");
}

describe("the transcript", () => {
  it("tells a turn with its call, its permission, its answer and its cost", async () => {
    const drafts = [
      sessionStarted(),
      ...turnDrafts(1, "Fix\nit", "Done: it **works**.", callDrafts(1, { command: "npm test" }, "2 passed\n")),
    ];
    expect(await render(drafts)).toBe(`# Greeting \\*fix\\*

- session: \`${sessionId(1)}\`
- model: scripted:x
- folder: /w
- started: ${NOW}
- from: \`${sessionId(7)}\`

## Turn 1

_scripted:x · ${NOW}_

> Fix
> it

**Bash** · ok · 42 ms

\`\`\`yaml
command: npm test
\`\`\`

_Allowed once_

\`\`\`
2 passed
\`\`\`

Done: it **works**.

_Turn 1: answered · 2 steps · 105 tokens in, 20 out · $0.0125 · 1.5 s_`);
  });

  it("leaves out time when asked, and names no ids below its head", async () => {
    const drafts = [sessionStarted(), ...turnDrafts(1, "a", "b", callDrafts(1, { x: 1 }, "out"))];
    const text = await render(drafts, false);
    expect(text).not.toMatch(/ ms| s_|T00:00:00\.000Z_/);
    expect(text.slice(text.indexOf("## Turn"))).not.toMatch(/(?:sess|turn|call|cli)_[0-9A-Z]{26}/);
  });

  it("tells failures, refusals, calls that did not finish and what happened around turns", async () => {
    const turn = turnId(1);
    const call_id = callId(1);
    const text = await render([
      sessionStarted(),
      draft("TurnStarted", { turn, content: [{ type: "image", media_type: "image/png", data: "AAAA" }], model: "m" }),
      draft("TextDelta", { turn, step: 1, block: 0, text: "half a" }),
      draft("Error", { turn, step: 1, reason: "RateLimited", message: "busy <b>", terminal: false }),
      draft("ThinkingDelta", { turn, step: 1, block: 0, text: "hm", provider: "p" }),
      draft("ToolCallStarted", {
        turn,
        step: 1,
        block: 1,
        call_id,
        name: "exec",
        label: "Bash",
        args: { command: "rm x" },
      }),
      draft("PermissionAnswered", { turn, call_id, decision: "deny", by: "policy", reason: "nobody to ask" }),
      draft("Cancelled", { turn, reason: "user" }),
      draft("TurnEnded", {
        turn,
        outcome: "error",
        reason: "Cancelled",
        steps: 1,
        usage: { input_tokens: 1, output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0 },
        duration_ms: 5,
      }),
      draft("SessionEnded", { reason: "idle" }),
      sessionStarted(),
    ]);
    expect(text.slice(text.indexOf("> "))).toBe(`> [image/png, 3 bytes]

_The attempt failed; Harness retried it. RateLimited: busy \\<b\\>_

<details><summary>Thinking</summary>

\`\`\`
hm
\`\`\`

</details>

_Cancelled (user)._

**Bash** · did not finish

\`\`\`yaml
command: rm x
\`\`\`

_Denied by policy: nobody to ask_

_Turn 1: error (Cancelled) · 1 step · 1 tokens in, 0 out · cost not known · 5 ms_

_Session ended (idle)._

_Opened again with scripted:x._`);
  });

  it("reads well where content has expired", async () => {
    const text = await render([
      ...turnDrafts(
        1,
        EXPIRED_CONTENT,
        `${EXPIRED_CONTENT}${EXPIRED_CONTENT}`,
        callDrafts(1, EXPIRED_CONTENT, EXPIRED_CONTENT),
      ),
    ]);
    expect(text).not.toContain(EXPIRED_CONTENT);
    expect(text.slice(text.indexOf("> "), text.lastIndexOf("\n\n"))).toBe(`> _(expired and removed)_

**Bash** · ok · 42 ms

_arguments expired and removed_

_Allowed once_

_result expired and removed_

_(expired and removed)_`);
  });
});

describe("foreign text", () => {
  it("cannot leave its block", () => {
    expect(fence("a\n```\n# x\n`````\nb")).toBe("``````\na\n```\n# x\n`````\nb\n``````");
    expect(fence("\n")).toBe("");
  });

  it("cannot pass for parts of the document", () => {
    expect(prose("# Turn 9\n## b\nx\n---\n===\n<details> `<b>` <!-- \n#hash 1 < 2")).toBe(
      "#### Turn 9\n##### b\nx\n\\---\n\\===\n&lt;details> `<b>` &lt;!-- \n#hash 1 < 2",
    );
    expect(prose("```js\n# code\n<b>")).toBe("```js\n# code\n<b>\n```");
    expect(prose("~~~\n```\n~~~\n# x")).toBe("~~~\n```\n~~~\n#### x");
    expect(quote("a\n\n```\nb")).toBe("> a\n>\n> ```\n> b\n> ```");
    expect(inline("a\n**b** `c` [d](e)")).toBe("a \\*\\*b\\*\\* \\`c\\` \\[d\\](e)");
  });

  it("cannot drive a terminal", () => {
    expect(prose("a\u001b[31mb\u202ec\r\nd")).toBe("a[31mbc\nd");
  });

  it("is shortened in the middle and at the end of long lines", () => {
    const lines = Array.from({ length: 100 }, (_, index) => `line ${index}`).join("\n");
    const short = shorten(`${lines}\n`).split("\n");
    expect([short.length, short[29], short[30], short[31], short.at(-1)]).toEqual([
      41,
      "line 29",
      "… 60 lines left out …",
      "line 90",
      "line 99",
    ]);
    expect(shorten("x".repeat(450))).toBe(`${"x".repeat(400)}… (50 more characters)`);
  });
});
