/** The handshake comes first and reports what a client can rely on. */
import { commandKinds, commandRows } from "#protocol";
import type { Caller } from "../driver.ts";
import { type Scenario, scenario } from "../scenario.ts";
import { fieldOf } from "../sighting.ts";
import type { Trial } from "../trial.ts";

const NO_SESSION = "sess_00000000000000000000000000";

/** The kinds of the first protocol version; a server may list more. */
const COMMANDS = (
  "SendInput CancelTurn AnswerPermission CreateSession AttachSession DetachSession SetModel EnterPlanMode " +
  "ExitPlanMode CustomCommand"
).split(" ");
const EVENTS = (
  "TextDelta ThinkingDelta ToolCallStarted ToolCallProgress ToolResult TurnStarted TurnEnded " +
  "CompactionTriggered CostIncremented PermissionRequested Cancelled Error StreamGap TokenExpiring HookTimeout " +
  "SessionEnded MCPServerDown TurnTiming CustomEvent"
).split(" ");
/** Optional commands, each with the feature flag that announces it. */
const FLAGS = commandKinds.flatMap((kind) => {
  const { feature } = commandRows[kind];
  return feature === undefined ? [] : [[kind, feature] as const];
});

export const handshakeScenarios: readonly Scenario[] = [
  scenario("a command before the handshake of its connection", ["ws", "rpc"], ["handshake:first"]).runs((trial) =>
    commandFirst(trial, "human"),
  ),
  scenario("a command before the handshake of its token", ["rest"], ["handshake:first"], ["other human"]).runs(
    (trial) => commandFirst(trial, "other human"),
  ),
  scenario(
    "what the handshake reports",
    ["rest", "ws", "rpc"],
    ["handshake:fields", "handshake:kinds", "handshake:features"],
  ).runs(async ({ target, check }) => {
    const connection = await target.connect("human");
    try {
      const { ok, body, reason } = await connection.handshake();
      check("handshake:fields", ok, `the handshake was refused: ${reason}`);
      const version = fieldOf(body, "protocol_version");
      check("handshake:fields", /^\d+\.\d+\.\d+$/.test(String(version)), `protocol_version is ${String(version)}`);
      for (const name of [
        "canonical_form_version",
        "schema_version_token_claim",
        "schema_version_profile",
        "schema_version_session_log",
      ]) {
        check("handshake:fields", Number.isInteger(fieldOf(body, name)), `${name} is not a whole number`);
      }
      check(
        "handshake:fields",
        fieldOf(body, "resource_uri_scheme") === "harness/v1",
        "resource_uri_scheme is not harness/v1",
      );
      const listed = (name: string): readonly unknown[] => {
        const list = fieldOf(body, name);
        return Array.isArray(list) ? list : [];
      };
      const lacking = [
        ...COMMANDS.filter((kind) => !listed("command_kinds").includes(kind)),
        ...EVENTS.filter((kind) => !listed("event_kinds").includes(kind)),
      ];
      check("handshake:kinds", lacking.length === 0, `the handshake does not list ${lacking.join(", ")}`);
      const unflagged = FLAGS.filter(
        ([kind, flag]) => listed("command_kinds").includes(kind) && !listed("features").includes(flag),
      );
      check(
        "handshake:features",
        unflagged.length === 0,
        `commands without their feature flag: ${unflagged.join(" ")}`,
      );
    } finally {
      await connection.close();
    }
  }),
  scenario("a client of another version", ["rest", "ws"], ["handshake:version"]).runs(async ({ connect, check }) => {
    const connection = await connect();
    const { ok, reason } = await connection.handshake("999.0.0");
    check(
      "handshake:version",
      !ok && reason === "HandshakeVersionMismatch",
      `the server answered version 999.0.0 with ${reason ?? "success"}`,
    );
  }),
];

async function commandFirst({ target, check }: Trial, as: Caller): Promise<void> {
  const connection = await target.connect(as);
  try {
    const { ok, reason } = await connection.create();
    check(
      "handshake:first",
      !ok && reason === "HandshakeRequired",
      `the server answered the command with ${reason ?? "success"}`,
    );
    const later = await connection.cancel(NO_SESSION);
    check(
      "handshake:first",
      later.reason === "HandshakeRequired",
      `the server answered the next command with ${later.reason ?? "success"}`,
    );
  } finally {
    await connection.close();
  }
}
