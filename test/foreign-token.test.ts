/** The token of another server lies in the folder of a session: tools may read it, and nobody else is ever shown it. */
import { describe, expect, test } from "vitest";
import { mintClaims, signToken, tokenFileText } from "#auth";
import { SessionId, TokenId } from "#protocol";
import { createRedactor } from "#redaction";
import { calls, createHarnessRig, says } from "./fakes/harness-rig.ts";

const CHUNK_CHARS = 7;

/** As another machine makes it. */
function mintToken(sessions: number): string {
  const named = Array.from({ length: sessions }, (_, index) =>
    SessionId.from(`01JZ00000000000000000${String(index).padStart(5, "0")}`),
  );
  const request = { sessions: named, commands: ["SendInput"], identityClass: "human" } as const;
  const jti = TokenId.from("01JZ0000000000000000000000");
  return signToken(mintClaims(request, { jti, nowMs: 1e12, knownCommands: ["SendInput"] }), Buffer.alloc(32, 7));
}

/** What makes it a token: its signature, and enough of what is signed. */
function parts(token: string): string[] {
  const [, claims = "", mac = ""] = token.split(".");
  return [claims.slice(0, 60), mac];
}

test("neither the model nor the log nor a client gets a token that a tool has read", async () => {
  const token = mintToken(1);
  const rig = await createHarnessRig(
    [
      calls(["fs.read", { path: "other/token" }], ["exec", { command: "cat other/token other/token" }]),
      calls(["fs.search", { pattern: "hat1", path: "other" }]),
      says(`It is ${token}.`),
    ],
    {
      autoApprove: true,
      prepare: (workspace) => void workspace.put("other/token", tokenFileText(token)),
    },
  );
  await rig.send("what is in other/token?");
  const exits = JSON.stringify([rig.events, rig.vendor.requests.map(({ body }) => body)]);
  for (const part of parts(token)) expect(exits).not.toContain(part);
  expect(exits.split("«redacted:harness-token»").length).toBeGreaterThan(4);
});

describe.each([
  ["for no session", 0],
  ["for a few", 20],
  ["for as many as one can name", 200],
])("a token %s", (_name, sessions) => {
  const token = mintToken(sessions);
  test.each([
    ["alone", (text: string) => text],
    ["in a sentence", (text: string) => `It is ${text}. Use it.`],
    ["in a listing", (text: string) => `     1\t${text}\n`],
    ["in JSON in JSON", (text: string) => JSON.stringify(JSON.stringify({ a: `${text}\n` }))],
    ["in an address", (text: string) => `http://127.0.0.1/?x=${text}&y=1`],
    ["between dashes", (text: string) => `- ${text}-`],
    ["cut off", (text: string) => text.slice(0, -20)],
  ])("is found %s, at once and in pieces", (_where, put) => {
    const redactor = createRedactor();
    const text = put(token);
    const stream = redactor.createStreamRedactor();
    let pieces = "";
    for (let at = 0; at < text.length; at += CHUNK_CHARS) pieces += stream.push(text.slice(at, at + CHUNK_CHARS));
    pieces += stream.flush();
    const whole = redactor.redact(text).text;
    for (const part of parts(token)) {
      expect(whole).not.toContain(part);
      expect(pieces).not.toContain(part);
    }
    expect(whole).toContain("«redacted:harness-token»");
  });
});
