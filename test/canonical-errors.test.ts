/**
 * The texts that users are promised for the reasons below: each is in the table of reasons word for word, and a person reads it
 * where that fault occurs. What another test pins where it happens is named here.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createAuthenticator, createFailureLimit, createTokenRecords, createTokenTimes, signToken } from "#auth";
import { ReasonError, reasons } from "#protocol";
import { withRetry } from "../src/providers/retry.ts";
import { blockRows } from "../src/tui/block-rows.ts";
import { withEvent } from "../src/tui/fold.ts";
import { themes } from "../src/tui/theme.ts";
import { emptyTranscript } from "../src/tui/transcript.ts";
import { widgets } from "../src/tui/widgets.ts";
import { callModel, userRequest } from "./fakes/call-model.ts";
import { sceneEvent } from "./fakes/golden-screens.ts";
import { calls, createHarnessRig, says } from "./fakes/harness-rig.ts";
import { createHttpRig } from "./fakes/http-rig.ts";
import { createManualClock } from "./fakes/manual-clock.ts";
import { someClaims, tokenId } from "./fakes/token-claims.ts";

interface Row {
  readonly text: string;
  /** What a person reads when it happens. */
  readonly said?: () => Promise<string>;
  /** The test in which it happens, and what that expects of the text. */
  readonly pinned?: readonly [file: string, words: string];
}

const rows = {
  HandshakeRequired: {
    text: "Send /v1/handshake before any command. See § Protocol versioning.",
    async said() {
      const { ask, path } = await createHttpRig([]);
      return (await ask("POST", path("/cancel"), { headers: { "x-harness-client": "cli_1" } })).json.error.message;
    },
  },
  TurnInProgress: {
    text: "Another client is sending input to this session (started by <originator> at <ts>). Wait, or send /cancel to interrupt.",
    async said() {
      const rig = await createHarnessRig([calls(["fs_write", { path: "a", content: "" }]), says("done")], {
        interactive: true,
      });
      const turn = rig.send();
      const { call_id } = await rig.next("PermissionRequested");
      const refused = await messageOf(rig.submit({ kind: "SendInput", content: [{ type: "text", text: "more" }] }));
      await rig.submit({ kind: "AnswerPermission", call_id, decision: "deny" });
      await turn;
      return refused;
    },
  },
  PermissionDenied: {
    text: "Permission denied for <tool> by <client>. To allow: re-prompt and pick 'Allow once / argv-glob / tool / session'.",
    pinned: ["permissions.test.ts", "To allow: re-prompt and pick 'Allow once / argv-glob / tool / session'."],
  },
  PermissionTimeout: {
    text: "Permission for <tool> not answered within <timeout>s. Tool call cancelled.",
    async said() {
      const rig = await createHarnessRig([calls(["fs_write", { path: "a", content: "" }]), says("done")], {
        interactive: true,
        permissionTimeoutMs: 1,
      });
      await rig.send();
      const [result] = rig.of("ToolResult");
      return (result?.content ?? []).map((block) => (block.type === "text" ? block.text : "")).join("");
    },
  },
  TokenExpired: {
    text: "Capability token expired at <exp>. Mint a new one: harness token mint --session <id> --identity-class <class>.",
    said: () => refusalOfToken(2_000_000, false),
  },
  TokenRevoked: {
    text: "Token <jti> was revoked at <ts>. Mint a new one via /v1/auth/token.",
    said: () => refusalOfToken(1_500_000, true),
  },
  MCPServerSHA256Mismatch: {
    text: "MCP server '<name>' refused to start: the binary at <path> changed. Expected sha256 <expected>, found <actual>. To approve the new binary, run /mcp:approve <name> or edit <profile_path> to update the pin.",
    pinned: ["mcp-projects.test.ts", "refused to start: the binary at"],
  },
  MCPServerUnavailable: {
    text: "MCP server '<name>' is down after <attempts> restart attempts. Its tools are in degraded state. /mcp:restart <name> to retry, or check $XDG_STATE_HOME/harness/log/.",
    said: async () => shown("MCPServerDown", { name: "notes", attempts: 5, reason: "it exited with 1" }),
  },
  HookHashChanged: {
    text: "<path> changed since you last approved it. Review the diff (TUI: 'v' opens the diff viewer). Re-ack to continue.",
    pinned: ["project-shell-hooks.test.ts", "changed since you last approved it"],
  },
  HookTimeout: {
    text: "Hook '<event>' command '<cmd>' exceeded its <timeout>s deadline. Killed.",
    said: async () => shown("HookTimeout", { hook: "./check.sh", event: "PreToolUse", timeout_ms: 200 }),
  },
  RateLimited: {
    text: "Provider <name> rate-limited the request. Retrying in <retry-after>s… (Ctrl-C to cancel, /model to switch).",
    async said() {
      const clock = createManualClock();
      const limited = {
        type: "failed",
        reason: "RateLimited",
        message: "zai rate-limited the request.",
        retryable: true,
      } as const;
      const provider = { name: "zai", chat: async () => limited, models: async () => [], countTokens: () => 1 };
      const policy = { maxRetries: 1, initialBackoffMs: 1_000, maxBackoffMs: 1_000, multiplier: 1 };
      const call = callModel(
        withRetry(provider, policy, { clock, random: { bytes: () => new Uint8Array([255]) } }),
        userRequest("m"),
      );
      await clock.advance(1_000);
      const [event] = (await call).events;
      return event?.type === "retrying" ? event.message : "";
    },
  },
  BashCancelledMidCommand: {
    text: "Cancelled mid-Bash. The command ran for <duration> and may have modified files. Files possibly affected: <list>. Review /sessions:diff <id> to see what changed.",
    pinned: ["../src/tools/exec.test.ts", "Cancelled mid-Bash"],
  },
  NonInteractiveAckRefused: {
    text: "Refusing to silently approve an unseen <kind> in non-interactive mode. Run harness ack --all once interactively, or pre-populate approved.lock from CI.",
    pinned: ["../src/cli/project-profile.test.ts", "or pre-populate approved.lock from CI."],
  },
  HandshakeVersionMismatch: {
    text: "Client speaks protocol <client_ver>; server speaks <server_ver>. Upgrade <client_or_server>.",
    async said() {
      const { ask } = await createHttpRig([]);
      return (await ask("GET", "/v1/handshake?protocol_version=99.0")).json.error.message;
    },
  },
} satisfies Partial<Record<keyof typeof reasons, Row>>;

describe.each(Object.entries<Row>(rows))("%s", (reason, { text, said, pinned }) => {
  test("has the text that users are promised", () => {
    expect(reasons[reason as keyof typeof rows].text).toBe(text);
  });

  if (said !== undefined)
    test("is what a person reads when it happens", async () => {
      expect(await said()).toMatch(patternOf(text));
    });

  if (pinned !== undefined)
    test("is expected where it happens", () => {
      const [file, words] = pinned;
      expect(text).toContain(words);
      const source = readFileSync(join(import.meta.dirname, file), "utf8").replaceAll("\\", "");
      expect(source).toContain(words);
    });
});

/** Every placeholder is filled, with anything but a placeholder. */
function patternOf(text: string): RegExp {
  const parts = text.split(/<[a-z_-]+>/).map((part) => RegExp.escape(part));
  return new RegExp(`^(?:[^\n]{0,2} )?${parts.join("[^<>]+")}`);
}

async function messageOf(refused: Promise<unknown>): Promise<string> {
  return refused.then(
    () => "it was not refused",
    (error: unknown) => (error instanceof ReasonError ? error.message : String(error)),
  );
}

async function refusalOfToken(nowMs: number, isRevoked: boolean): Promise<string> {
  const state = mkdtempSync(join(tmpdir(), "harness-canonical-"));
  onTestFinished(() => rmSync(state, { recursive: true, force: true }));
  const clock = createManualClock(nowMs);
  const key = new Uint8Array(32).fill(7);
  const records = createTokenRecords(state);
  if (isRevoked) records.revoke(tokenId(1), nowMs);
  const times = createTokenTimes({ clock, records });
  const authenticator = createAuthenticator({
    key: () => key,
    records,
    times,
    failures: createFailureLimit({ clock }),
  });
  return messageOf(Promise.try(() => authenticator.authenticate(signToken(someClaims(), key), "here")));
}

/** The rows of the terminal interface, on a wide screen. */
function shown(kind: string, payload: object): string {
  const event = sceneEvent(1, kind, payload);
  const { blocks } = withEvent(emptyTranscript(event.session, "m"), event, 0);
  const style = { columns: 1_000, theme: themes.none, widgets, nowMs: 0 };
  return blocks
    .flatMap((block) => blockRows(block, style))
    .join("\n")
    .trim();
}
