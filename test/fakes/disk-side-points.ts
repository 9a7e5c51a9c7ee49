/** Full disks under what is kept beside the log: tokens, rules, acks, snapshots. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createFailureLimit, createIssuance, createTokenDesk, createTokenRecords, TOKEN_KEY_PURPOSE } from "#auth";
import { createUlidFactory } from "#base";
import { createIdMint, SessionId } from "#protocol";
import { deriveKey, harnessPaths, machineKeySource } from "#stores";
import { createSystemClock, createSystemRandom } from "#world";
import type { LoggedEvent } from "./disk-daemon.ts";
import { type DiskPoint, seen, words } from "./disk-point.ts";
import type { PointContext } from "./full-disks.ts";

/** A snapshot of the conversation is due after so many events. */
const SNAPSHOT_EVENTS = 2_000;

export const sidePoints: readonly DiskPoint[] = [
  {
    name: "while a token is made",
    needs: ["state"],
    async run(context) {
      const { daemon, session } = context;
      const token = mintParent(daemon.env, session);
      const body = { sessions: [session], commands: ["SendInput"], identity_class: "agent", ttl_seconds: 60 };
      await daemon.ask("GET", "/v1/handshake", undefined, token);
      context.fill(0);
      const answer = await daemon.ask("POST", "/v1/auth/tokens", body, token);
      context.expectRefusal("minting over HTTP", answer);
      daemon.disk.makeRoom();
      const again = await daemon.ask("POST", "/v1/auth/tokens", body, token);
      if (again.status !== 201) context.fail(`no token afterwards: ${JSON.stringify(again.json)}`);
    },
  },
  {
    name: "while a rule is kept",
    needs: ["config"],
    async run(context) {
      const { daemon, session } = context;
      const turn = daemon.input(session, "ask please");
      const asked = await seen(context, "PermissionRequested");
      const decision = { call_id: asked.payload.call_id, decision: "allow_tool" };
      await daemon.ask("POST", `/v1/sessions/${session}/permission`, decision);
      await turn;
      const { json } = await daemon.ask("POST", `/v1/sessions/${session}/commands`, { kind: "ListRules" });
      const rule = (json.result as { rule: string; source: string }[]).at(-1)?.rule;
      context.fill(0);
      const promote = { kind: "PromoteRule", rule };
      context.expectRefusal("a rule", await daemon.ask("POST", `/v1/sessions/${session}/commands`, promote));
      daemon.disk.makeRoom();
      const again = await daemon.ask("POST", `/v1/sessions/${session}/commands`, promote);
      if (again.status !== 202) context.fail(`the rule is not kept afterwards: ${JSON.stringify(again.json)}`);
      // Other points want to be asked.
      rmSync(join(daemon.env.XDG_CONFIG_HOME ?? "", "harness", "config.toml"));
    },
  },
  {
    name: "while a project is acked",
    needs: ["state"],
    run: whileAcked,
  },
  {
    name: "while a snapshot is kept",
    needs: ["data"],
    // Its log alone is larger than the other disks.
    layout: "data, larger",
    run: whileSnapshot,
  },
];

async function whileAcked({ daemon, ...context }: PointContext): Promise<void> {
  const project = join(daemon.env.XDG_CONFIG_HOME ?? "", "harness", "projects", words(8));
  mkdirSync(project, { recursive: true });
  writeFileSync(join(project, "harness.md"), `---\ntitle: Acked\n---\n${words(60_000)}\n`);
  const ack = () => daemon.run("ack", "--all", "--yes", "--dir", project);
  context.fill(0);
  const refused = await ack();
  if (refused.code === 0 || !/the disk is full/.test(refused.err) || /\n\s+at /.test(refused.err))
    context.fail(`an ack: ${refused.code} ${refused.err}`);
  const none = await daemon.run("verify-ack", "--dir", project);
  if (none.code === 0) context.fail("files count as acked that nobody could keep");
  daemon.disk.makeRoom();
  const again = await ack();
  const verified = await daemon.run("verify-ack", "--dir", project);
  if (again.code !== 0 || verified.code !== 0) context.fail(`no ack afterwards: ${again.err}${verified.err}`);
}

async function whileSnapshot({ daemon, session, ...context }: PointContext): Promise<void> {
  let events = 0;
  let perTurn = 0;
  const turn = async (text: string): Promise<LoggedEvent[]> => {
    const { status, json } = await daemon.input(session, text);
    if (status !== 200) throw new Error(`a turn beside a snapshot: ${status} ${JSON.stringify(json).slice(0, 200)}`);
    const { json: page } = await daemon.ask("GET", `/v1/sessions/${session}/log?after=${events}&limit=1000`);
    perTurn = page.events.length;
    events += perTurn;
    return page.events;
  };
  while (events + perTurn < SNAPSHOT_EVENTS) await turn(`many ${words(3_000)}`);
  await turn("hello");
  while (events + perTurn < SNAPSHOT_EVENTS) await turn("hello");
  // Enough for the events of a few turns, not for the conversation.
  daemon.disk.fill(512 * 1024);
  const problems: LoggedEvent[] = [];
  // The news that there is no snapshot comes after the turn that was the first one too many.
  while (events < SNAPSHOT_EVENTS + 2 * perTurn) {
    problems.push(...(await turn("hello")).filter(({ kind }) => kind === "Error"));
  }
  if (problems.map(({ payload }) => `${payload.reason} ${payload.terminal}`).join() !== "SnapshotUnusable false")
    context.fail(`not only a snapshot is missing: ${JSON.stringify(problems).slice(0, 400)}`);
  daemon.disk.makeRoom();
  await daemon.ask("DELETE", `/v1/sessions/${session}`);
  const again = await daemon.ask("POST", "/v1/sessions", { resume: session });
  if (again.status !== 200)
    context.fail(`the session does not open without its snapshot: ${JSON.stringify(again.json)}`);
}

/** A token that may make others, as the owner of the machine makes it. */
function mintParent(env: Readonly<Record<string, string>>, session: string): string {
  const [clock, random] = [createSystemClock(), createSystemRandom()];
  const machine = machineKeySource(env);
  const desk = createTokenDesk({
    key: () => deriveKey(machine(), TOKEN_KEY_PURPOSE),
    records: createTokenRecords(harnessPaths(env).stateDir),
    clock,
    newId: () => createIdMint(createUlidFactory({ clock, random })).token(),
    knownCommands: ["SendInput"],
    issuance: createIssuance({ clock, random, channels: [] }),
    failures: createFailureLimit({ clock }),
  });
  if (!SessionId.is(session)) throw new Error(`${session} is no session`);
  return desk.mintForOwner({
    sessions: [session],
    commands: ["SendInput"],
    identityClass: "agent",
    ttlSeconds: 600,
    canMint: true,
  }).token;
}
