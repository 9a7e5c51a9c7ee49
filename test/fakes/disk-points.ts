/** The moments at which the campaign of full disks fills one up, each with what a client does then. */
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createFailureLimit, createIssuance, createTokenDesk, createTokenRecords, TOKEN_KEY_PURPOSE } from "#auth";
import { createUlidFactory } from "#base";
import { createIdMint, SessionId } from "#protocol";
import { deriveKey, harnessPaths, machineKeySource } from "#stores";
import { createSystemClock, createSystemRandom } from "#world";
import type { Folder } from "./disk-daemon.ts";
import type { PointContext } from "./full-disks.ts";

const LOOK_EVERY_MS = 20;
const PATIENCE_MS = 10_000;

export interface DiskPoint {
  readonly name: string;
  /** What has to be on the small disk for it to make sense. */
  readonly needs: readonly Folder[];
  /** The only layout for it. */
  readonly layout?: string;
  run(context: PointContext): Promise<void>;
}

const words = (chars: number): string => randomBytes(chars / 2).toString("hex");

export const diskPoints: readonly DiskPoint[] = [
  {
    name: "before an input",
    needs: [],
    async run(context) {
      context.fill();
      for (const size of [10, 4_000, 60_000]) await sendInput(context, `hi ${words(size)}`);
    },
  },
  {
    name: "before an input that nobody waits for",
    needs: [],
    async run(context) {
      const { daemon, session } = context;
      context.fill(8 * 1024);
      for (let tries = 0; tries < 3; tries++) {
        const text = `hi ${words(20_000)}`;
        const answer = await daemon.input(session, text, "");
        if (answer.status !== 202) context.expectRefusal("an input", answer);
        else {
          context.acknowledged("an input", session, (log) =>
            log.some(({ kind, payload }) => kind === "TurnStarted" && payload.content[0].text === text),
          );
        }
        await pause(50);
      }
    },
  },
  {
    name: "while a call runs",
    needs: [],
    async run(context) {
      const turn = sendInput(context, "slow work");
      await seen(context, "ToolIntent");
      context.fill(16 * 1024);
      await turn;
    },
  },
  {
    name: "while an input waits",
    needs: [],
    async run(context) {
      const { daemon, session } = context;
      const running = daemon.input(session, "slow work");
      await seen(context, "ToolIntent");
      const text = `waits ${words(40_000)}`;
      const { status } = await daemon.input(session, text, "?mode=queue");
      if (status !== 202) context.fail(`the input was not queued: ${status}`);
      // It was acknowledged: it begins by itself, once.
      context.acknowledged("a queued input and its turn", session, (log) => {
        const queued = log.find(({ kind, payload }) => kind === "InputQueued" && payload.content[0].text === text);
        return log.filter(({ kind, payload }) => kind === "TurnStarted" && payload.queued === queued?.id).length === 1;
      });
      context.fill(8 * 1024);
      await running;
      await pause(200 + context.random() * 2_500);
    },
  },
  {
    name: "before an input is queued",
    needs: [],
    async run(context) {
      const { daemon, session } = context;
      context.fill(64 * 1024);
      for (const size of [10, 50_000]) {
        const text = `queued ${words(size)}`;
        const answer = await daemon.input(session, text, "?mode=queue");
        if (answer.status !== 202) context.expectRefusal("queueing", answer);
        else
          context.acknowledged("a queued input", session, (log) =>
            log.some(({ kind, payload }) => kind === "InputQueued" && payload.content[0].text === text),
          );
      }
    },
  },
  {
    name: "in the middle of an answer",
    needs: [],
    async run(context) {
      const turn = sendInput(context, `echo ${words(3_500)}`);
      await seen(context, "TurnStarted");
      context.fill(6 * 1024);
      await turn;
    },
  },
  {
    name: "while a record for undo is kept",
    needs: [],
    async run(context) {
      context.fill(260 * 1024);
      await sendInput(context, "work");
    },
  },
  {
    name: "while a permission is answered",
    needs: [],
    async run(context) {
      const { daemon, session } = context;
      const turn = sendInput(context, `ask ${words(2_000)}`);
      const asked = await seen(context, "PermissionRequested");
      context.fill(4 * 1024);
      const answer = { call_id: asked.payload.call_id, decision: "allow_once" };
      const { status } = await daemon.ask("POST", `/v1/sessions/${session}/permission`, answer);
      if (status !== 202 && status !== 507) context.fail(`the answer got ${status}`);
      await turn;
    },
  },
  {
    name: "while somebody follows the events",
    needs: ["data"],
    async run(context) {
      const { daemon, session } = context;
      const stream = await daemon.follow(session);
      const turn = sendInput(context, "slow work");
      await seen(context, "ToolIntent");
      context.fill(0);
      await turn;
      daemon.disk.makeRoom();
      // Whoever follows learns by itself how the turn ended.
      for (let waitedMs = 0; !stream.kinds().includes("TurnEnded"); waitedMs += LOOK_EVERY_MS) {
        if (waitedMs > PATIENCE_MS) return context.fail("the stream was not told how the turn ended");
        await pause(LOOK_EVERY_MS);
      }
      stream.stop();
    },
  },
  {
    name: "while a session is made",
    needs: [],
    async run(context) {
      const { daemon } = context;
      context.fill(24 * 1024);
      for (let tries = 0; tries < 6; tries++) {
        const answer = await daemon.ask("POST", "/v1/sessions", { working_dir: daemon.workspace });
        if (answer.status !== 201) context.expectRefusal("making a session", answer);
        else
          context.acknowledged("a session", String(answer.json.id), (log) =>
            log.some(({ kind }) => kind === "SessionStarted"),
          );
      }
    },
  },
  {
    name: "while a session ends",
    needs: [],
    async run(context) {
      const { daemon } = context;
      const other = await daemon.newSession();
      await daemon.input(other, "work");
      context.fill(4 * 1024);
      const answer = await daemon.ask("DELETE", `/v1/sessions/${other}`);
      if (answer.status !== 204) context.expectRefusal("ending a session", answer);
      daemon.disk.makeRoom();
      const again = await daemon.ask("POST", "/v1/sessions", { resume: other });
      if (again.status !== 200) context.fail(`the session does not open again: ${JSON.stringify(again.json)}`);
    },
  },
  {
    name: "while a turn is undone",
    needs: [],
    async run(context) {
      const { daemon, session } = context;
      await daemon.input(session, "work");
      context.fill(12 * 1024);
      const answer = await daemon.ask("POST", `/v1/sessions/${session}/undo`, {});
      if (answer.status !== 202) return context.expectRefusal("undo", answer);
      context.acknowledged("an undo", session, (log) => log.some(({ kind }) => kind === "WorkspaceRestored"));
    },
  },
  {
    name: "while settings of a session change",
    needs: [],
    async run(context) {
      const { daemon, session } = context;
      context.fill(2 * 1024);
      for (const active of [true, false]) {
        const answer = await daemon.ask("POST", `/v1/sessions/${session}/plan-mode`, { active });
        if (answer.status !== 202) context.expectRefusal("plan mode", answer);
        // One that is on already is no change, and not recorded.
        else if (active) {
          context.acknowledged("plan mode", session, (log) => log.some(({ kind }) => kind === "PlanModeChanged"));
        }
      }
      daemon.disk.makeRoom();
      await daemon.ask("POST", `/v1/sessions/${session}/plan-mode`, { active: false });
    },
  },
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
    name: "while old content goes",
    needs: ["data"],
    async run(context) {
      const { daemon } = context;
      context.fill(0);
      const { code, err } = await daemon.run("sessions", "expire");
      // What there is may be changed in place.
      if (code !== 0 && !/no space is left/.test(err)) context.fail(`retention: ${code} ${err}`);
      daemon.disk.makeRoom();
      const again = await daemon.run("sessions", "expire");
      if (again.code !== 0) context.fail(`retention afterwards: ${again.err}`);
    },
  },
  {
    name: "while the daemon starts",
    needs: [],
    async run(context) {
      const { daemon } = context;
      await daemon.stop();
      context.fill(0);
      const problem = await daemon.start();
      if (problem !== undefined && !/StoreFailed.*no space is left/s.test(problem)) {
        context.fail(`a start on a full disk: ${problem}`);
      }
      daemon.disk.makeRoom();
      const again = problem === undefined ? undefined : await daemon.start();
      if (again !== undefined) context.fail(`it does not start afterwards: ${again}`);
      await daemon.ask("POST", "/v1/sessions", { resume: context.session });
    },
  },
  {
    name: "while the daemon stops",
    needs: [],
    async run(context) {
      const { daemon, session } = context;
      await daemon.input(session, "work");
      context.fill(0);
      const ended = await daemon.stop();
      if (!/code [01], signal null/.test(ended)) context.fail(`it did not stop: ${ended}`);
      daemon.disk.makeRoom();
      const again = await daemon.start();
      if (again !== undefined) context.fail(`it does not start afterwards: ${again}`);
      await daemon.ask("POST", "/v1/sessions", { resume: session });
    },
  },
  {
    name: "on the pipe",
    needs: ["data"],
    async run(context) {
      await onThePipe(context);
    },
  },
  {
    name: "read-only for a while",
    needs: ["state"],
    // A disk cannot be made read-only while the log on it is open.
    layout: "state",
    async run(context) {
      const { daemon, session } = context;
      daemon.disk.makeReadOnly();
      await sendInput(context, "work");
      const { log } = (await daemon.ask("GET", "/v1/health")).json.subsystems;
      if (log.state !== "failing" || log.lost === 0)
        context.fail(`health does not tell lost lines: ${JSON.stringify(log)}`);
      await daemon.ask("GET", `/v1/sessions/${session}`);
      const revoked = await daemon.ask("DELETE", `/v1/auth/tokens/tok_${"0".repeat(26)}`);
      context.expectRefusal("a revocation", revoked);
      daemon.disk.makeWritable();
    },
  },
];

/** Input whose turn is waited for: answered and in the log, or refused. */
async function sendInput({ daemon, session, ...context }: PointContext, text: string): Promise<void> {
  const answer = await daemon.input(session, text);
  if (answer.status !== 200) return context.expectRefusal(`the input ${text.slice(0, 20)}`, answer);
  const { turn, outcome } = answer.json;
  context.acknowledged(`the turn of ${text.slice(0, 20)}`, session, (log) => {
    const begun = log.find(({ kind, payload }) => kind === "TurnStarted" && payload.turn === turn);
    const ended = log.find(({ kind, payload }) => kind === "TurnEnded" && payload.turn === turn);
    return begun?.payload.content[0].text === text && ended?.payload.outcome === outcome;
  });
}

async function seen({ daemon, session }: PointContext, kind: string) {
  for (let waitedMs = 0; waitedMs < PATIENCE_MS; waitedMs += LOOK_EVERY_MS) {
    const event = (await daemon.log(session)).findLast((one) => one.kind === kind);
    if (event !== undefined) return event;
    await pause(LOOK_EVERY_MS);
  }
  throw new Error(`no ${kind} was seen`);
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

async function onThePipe({ daemon, ...context }: PointContext): Promise<void> {
  const child = daemon.talk("rpc");
  child.stderr.resume();
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    out += chunk;
  });
  let lastId = 0;
  // biome-ignore lint/suspicious/noExplicitAny: read as a foreign program would
  const call = async (method: string, params: unknown): Promise<any> => {
    const id = ++lastId;
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    for (let waitedMs = 0; waitedMs < PATIENCE_MS; waitedMs += LOOK_EVERY_MS) {
      const answer = messages(out).find((message) => message.id === id);
      if (answer !== undefined) return answer;
      await pause(LOOK_EVERY_MS);
    }
    throw new Error(`no answer to ${method}`);
  };
  await call("initialize", {});
  context.fill(0);
  const refused = await call("thread.create", { directory: daemon.workspace });
  // It may have found a place in pages that the log has already.
  if (refused.result === undefined && refused.error?.code !== -32005)
    context.fail(`thread.create on the pipe: ${JSON.stringify(refused)}`);
  daemon.disk.makeRoom();
  const again = await call("thread.create", { directory: daemon.workspace });
  if (again.result === undefined) context.fail(`the pipe does not recover: ${JSON.stringify(again)}`);
  const gone = new Promise((resolve) => child.once("close", resolve));
  child.stdin.end();
  await gone;
}

// biome-ignore lint/suspicious/noExplicitAny: read as a foreign program would
function messages(out: string): any[] {
  return out
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}
