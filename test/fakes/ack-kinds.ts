/**
 * What a server can acknowledge: how a session gets there, the command, and what the log must say of it. `kept` is asked of the log
 * as the kill left it, `settled` of the log after the session was opened again; both name what is lost or happened twice.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { LoggedEvent, Sent, Wire, WireName } from "./ack-wires.ts";

const POLL_MS = 3;
const POLLS = 2000;

/** The scripted model of the campaign. An input is its kind and a mark that no other input has. */
export const ACK_SCENARIO = `
name: acks
rules:
  - when: { input: '/(queued|steered) /' }
    reply: [{ text: "hello" }]
  - when: { tool: fs.write }
    reply: [{ text: "written" }]
  - when: { tool: ask_user }
    reply: [{ text: "thanks" }]
  - when: { input: '/^wait/' }
    reply: [{ pause_ms: 60000 }, { text: "at last" }]
  - when: { input: '/^write (\\S+)/' }
    reply: [{ tool: fs.write, args: { path: "{{input.1}}.txt", content: "x" } }]
  - when: { input: '/^ask/' }
    reply: [{ tool: ask_user, args: { question: "Which one?" } }]
otherwise: [{ text: "hello" }]
`;

export interface Place {
  readonly wire: Wire;
  readonly workspace: string;
  /** Unlike that of any other acknowledgement. */
  readonly mark: string;
  /** Another model that can be used. */
  readonly otherModel: string;
}

/** Something that the server has said has happened. */
export interface Acknowledgement {
  readonly session: string;
  kept(log: readonly LoggedEvent[], stored: StoredState): readonly string[];
  settled(log: readonly LoggedEvent[]): readonly string[];
}

export interface StoredState {
  readonly model: string;
  readonly state: string;
  /** Of the configuration. */
  readonly config: string;
}

interface Reply {
  readonly turn?: string;
}

export interface AckKind {
  readonly name: string;
  readonly wires: readonly WireName[];
  /** Brings a session to where the command can be given; `send` gives it and resolves with its acknowledgement. */
  prepare(place: Place): Promise<{ send(): Promise<Acknowledgement> }>;
}

const EVERY: readonly WireName[] = ["rest", "ws", "client", "rpc"];
const nothing = (): readonly string[] => [];

function exactly(count: number, log: readonly LoggedEvent[], what: string, fits: (event: LoggedEvent) => boolean) {
  const found = log.filter(fits).length;
  if (found === count) return [];
  return [found < count ? `lost: ${what}` : `twice: ${what} (${found} times)`];
}

const once = (log: readonly LoggedEvent[], what: string, fits: (event: LoggedEvent) => boolean): readonly string[] =>
  exactly(1, log, what, fits);

const input = (text: string) => ({ content: [{ type: "text", text }] });

const says = ({ payload }: LoggedEvent, text: string): boolean =>
  (payload.content as readonly { readonly text?: string }[]).some((block) => block.text === text);

/** What is promised, by what the server has replied. */
interface Promised {
  kept(log: readonly LoggedEvent[], stored: StoredState & Reply): readonly string[];
  settled(log: readonly LoggedEvent[], reply: Reply): readonly string[];
}

function sending({ wire }: Place, session: string, command: Sent, { kept, settled }: Promised) {
  return {
    async send(): Promise<Acknowledgement> {
      const reply = await wire.submit(session, command);
      return {
        session,
        kept: (log, stored) => kept(log, { ...stored, ...reply }),
        settled: (log) => settled(log, reply),
      };
    },
  };
}

/** A session with a turn that runs, and the first event of a kind in it. */
async function running({ wire, workspace, mark }: Place, what: string, until: string) {
  const session = await wire.open(workspace);
  await wire.submit(session, { kind: "SendInput", ...input(`${what} ${mark}`) });
  return { session, event: await firstOf(wire, session, until) };
}

async function firstOf(wire: Wire, session: string, kind: string): Promise<LoggedEvent> {
  for (let poll = 0; poll < POLLS; poll++) {
    const found = (await wire.log(session)).find((event) => event.kind === kind);
    if (found !== undefined) return found;
    await pause(POLL_MS);
  }
  throw new Error(`no ${kind} came`);
}

/** A permission request that is answered; the answer counts once, and nobody is asked again. */
function permission(name: string, decision: string): AckKind {
  return {
    name,
    wires: EVERY,
    async prepare(place) {
      const { session, event } = await running(place, "write", "PermissionRequested");
      const { call_id } = event.payload;
      const ofCall = (kind: string) => (one: LoggedEvent) => one.kind === kind && one.payload.call_id === call_id;
      return sending(
        place,
        session,
        { kind: "AnswerPermission", call_id, decision },
        {
          kept: (log) =>
            once(log, name, (one) => ofCall("PermissionAnswered")(one) && one.payload.decision === decision),
          settled: (log) => [
            ...once(log, `${name}: the request`, ofCall("PermissionRequested")),
            ...once(log, `${name}: the answer`, ofCall("PermissionAnswered")),
            ...(log.filter(ofCall("ToolIntent")).length > 1 ? [`twice: the call of ${name}`] : []),
            ...(decision === "deny" && log.some(ofCall("ToolIntent")) ? [`lost: ${name}; the call ran`] : []),
          ],
        },
      );
    },
  };
}

/** A rule of the session that is taken back or kept. */
function rule(name: string, kind: "RevokeRule" | "PromoteRule", change: string): AckKind {
  return {
    name,
    wires: EVERY,
    async prepare(place) {
      const { wire } = place;
      const { session, event } = await running(place, "write", "PermissionRequested");
      const { call_id, argv_glob } = event.payload;
      await wire.submit(session, { kind: "AnswerPermission", call_id, decision: "allow_argv_glob" });
      await firstOf(wire, session, "TurnEnded");
      return sending(
        place,
        session,
        { kind, rule: argv_glob },
        {
          kept: (log, { config }) => [
            ...once(log, name, (one) => one.kind === "RuleChanged" && one.payload.change === change),
            ...(kind === "PromoteRule" && !config.includes(argv_glob) ? [`lost: ${name}, in the configuration`] : []),
          ],
          settled: nothing,
        },
      );
    },
  };
}

/** A command that leaves one event, whatever the session does. */
function change(name: string, given: (place: Place) => Sent, event: (place: Place) => Partial<LoggedEvent>): AckKind {
  return {
    name,
    wires: EVERY,
    async prepare(place) {
      const session = await place.wire.open(place.workspace);
      const { kind, payload } = event(place);
      const isIt = (one: LoggedEvent): boolean =>
        one.kind === kind && Object.entries(payload).every(([key, value]) => isSame(one.payload[key], value));
      return sending(place, session, given(place), {
        kept: (log, { model }) => [
          ...once(log, name, isIt),
          ...(kind === "ModelChanged" && model !== place.otherModel ? ["lost: the model of the session"] : []),
        ],
        settled: nothing,
      });
    },
  };
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

export const ACK_KINDS: readonly AckKind[] = [
  {
    name: "input",
    wires: [...EVERY, "prompt"],
    async prepare(place) {
      const session = await place.wire.open(place.workspace);
      const text = `hello ${place.mark}`;
      const started = (one: LoggedEvent): boolean => one.kind === "TurnStarted" && says(one, text);
      return sending(
        place,
        session,
        { kind: "SendInput", ...input(text) },
        {
          kept: (log, { turn }) => once(log, "input", (one) => started(one) && one.payload.turn === turn),
          settled: (log, { turn }) => [
            ...once(log, "input", started),
            ...once(log, "the end of its turn", (one) => one.kind === "TurnEnded" && one.payload.turn === turn),
          ],
        },
      );
    },
  },
  {
    name: "queued input",
    wires: EVERY,
    async prepare(place) {
      const { session } = await running(place, "wait", "TurnStarted");
      const text = `queued ${place.mark}`;
      const queued = (one: LoggedEvent): boolean => one.kind === "InputQueued" && says(one, text);
      return sending(
        place,
        session,
        { kind: "QueueInput", ...input(text) },
        {
          kept: (log) => once(log, "queued input", queued),
          settled: (log) => [
            ...once(log, "queued input", queued),
            ...once(log, "its turn", (one) => one.kind === "TurnStarted" && says(one, text)),
          ],
        },
      );
    },
  },
  {
    name: "steered input",
    wires: EVERY,
    async prepare(place) {
      const { session } = await running(place, "wait", "TurnStarted");
      const text = `steered ${place.mark}`;
      const check = (log: readonly LoggedEvent[]): readonly string[] =>
        once(log, "steered input", (one) => one.kind === "TurnSteered" && says(one, text));
      return sending(place, session, { kind: "SteerTurn", ...input(text) }, { kept: check, settled: check });
    },
  },
  permission("permission denied", "deny"),
  permission("permission given", "allow_once"),
  permission("permission with a rule", "allow_tool"),
  {
    name: "answered question",
    wires: EVERY,
    async prepare(place) {
      const { session, event } = await running(place, "ask", "QuestionAsked");
      const { call_id } = event.payload;
      const ofCall = (one: LoggedEvent): boolean => one.payload.call_id === call_id;
      const holdsIt = (one: LoggedEvent): boolean => ofCall(one) && JSON.stringify(one.payload).includes(place.mark);
      return sending(
        place,
        session,
        { kind: "AnswerQuestion", call_id, answer: place.mark },
        {
          kept: (log) => (log.some(holdsIt) ? [] : ["lost: answered question"]),
          settled: (log) => [
            ...once(log, "the question", (one) => one.kind === "QuestionAsked" && ofCall(one)),
            ...once(log, "its result", (one) => one.kind === "ToolResult" && holdsIt(one)),
          ],
        },
      );
    },
  },
  rule("rule taken back", "RevokeRule", "revoked"),
  rule("rule kept", "PromoteRule", "promoted"),
  change(
    "model",
    ({ otherModel: model }) => ({ kind: "SetModel", model }),
    ({ otherModel: model }) => ({ kind: "ModelChanged", payload: { model } }),
  ),
  change(
    "plan mode",
    () => ({ kind: "EnterPlanMode" }),
    () => ({ kind: "PlanModeChanged", payload: { active: true } }),
  ),
  change(
    "context",
    ({ mark }) => ({ kind: "SetContext", values: { mode: mark } }),
    ({ mark }) => ({ kind: "ContextSet", payload: { values: { mode: mark } } }),
  ),
  {
    name: "cancel",
    wires: [...EVERY, "prompt"],
    async prepare(place) {
      const { session, event } = await running(place, "wait", "TurnStarted");
      const { turn } = event.payload;
      return sending(
        place,
        session,
        { kind: "CancelTurn" },
        {
          kept: nothing,
          settled: (log) => [
            ...once(log, "the end of the turn", (one) => one.kind === "TurnEnded" && one.payload.turn === turn),
            ...(log.some(({ kind, payload }) => kind === "TextDelta" && payload.turn === turn) ? ["lost: cancel"] : []),
          ],
        },
      );
    },
  },
  {
    name: "new session",
    wires: EVERY,
    prepare: async ({ wire, workspace }) => ({
      async send() {
        const session = await wire.open(workspace);
        const kept = (log: readonly LoggedEvent[]): readonly string[] =>
          once(log, "new session", ({ kind }) => kind === "SessionStarted");
        return { session, kept, settled: nothing };
      },
    }),
  },
  {
    name: "ended session",
    wires: EVERY,
    async prepare(place) {
      const session = await place.wire.open(place.workspace);
      return sending(
        place,
        session,
        { kind: "EndSession" },
        {
          kept: (log, { state }) => [
            ...once(log, "ended session", ({ kind }) => kind === "SessionEnded"),
            ...(state === "ended" ? [] : ["lost: the state of the ended session"]),
          ],
          settled: nothing,
        },
      );
    },
  },
];
