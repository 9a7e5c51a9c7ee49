/** One live session: its bus, its conversation, at most one running turn. Knows clients only by their id. */
import { compose, defined } from "#base";
import { type ClientId, type IdMint, type InputBlock, ReasonError, type SessionId, type TurnId } from "#protocol";
import type { EventBus, Subscriber } from "./bus.ts";
import type { Compactor } from "./compaction.ts";
import { createConversation } from "./conversation.ts";
import type { HiddenTools } from "./dispatch.ts";
import { createInnerCalls } from "./inner-calls.ts";
import { type CheckToken, createInputQueue, type InputToken, type QueuedInput } from "./input-queue.ts";
import type { Lasting } from "./lasting.ts";
import { reportLog, reportSnapshot } from "./log-problems.ts";
import { createMentions } from "./mentions.ts";
import { createOwnCommands } from "./own-command.ts";
import type { Provider } from "./provider.ts";
import { createQueueDelivery } from "./queue-delivery.ts";
import { reachProvider } from "./reach-provider.ts";
import { createRecovery, type Recovery } from "./recovery.ts";
import { createRemains } from "./remains.ts";
import type { Reopened } from "./reopen.ts";
import type { RequestMiddleware } from "./request-chain.ts";
import { previewRequest, type RequestPreview } from "./request-preview.ts";
import { type AskPerson, createRunTool, type NestedCall, type StartBackground } from "./run-tool.ts";
import type { RunningTurn, SessionCore } from "./session-core.ts";
import { createSnapshotKeeper, SNAPSHOT_EVERY_EVENTS } from "./snapshot-keeper.ts";
import { type StartedTurn, startedTurn } from "./started-turn.ts";
import { createSteer } from "./steer.ts";
import { createSteering, type Steering } from "./steering.ts";
import type { StopCheck } from "./stop-check.ts";
import type { SessionStore } from "./store.ts";
import type { Tool, ToolSource } from "./tool.ts";
import type { ToolMiddleware } from "./tool-chain.ts";
import { runTurn, type TurnInput, type TurnParts } from "./turn.ts";
import { createTurnJoin, type JoinTurn } from "./turn-context.ts";
import type { CancelCause } from "./turn-ending.ts";

export interface SessionParts
  extends Pick<
    TurnParts,
    | "toolSettings"
    | "hooks"
    | "beforeTurn"
    | "beforeStep"
    | "askInStep"
    | "settle"
    | "beforeEnd"
    | "takeUsed"
    | "maxSteps"
  > {
  readonly ids: IdMint;
  readonly store: Pick<SessionStore, "update">;
  readonly provider: Provider;
  readonly requestChain: readonly RequestMiddleware[];
  /** As `requestChain`, without what acts: hooks are not asked about a request that nobody sends. Default: the same. */
  readonly previewChain?: () => readonly RequestMiddleware[];
  /** Makes the conversation shorter; `chain` is what its own requests pass on their way to the provider. Absent: nothing does. */
  readonly compaction?: { readonly compactor: Compactor; readonly chain: readonly RequestMiddleware[] };
  /** Outermost first; behind it the tool runs. */
  readonly toolChain: readonly ToolMiddleware[];
  /** Puts the question of a tool to a person. Default: nobody is there. */
  readonly ask?: AskPerson;
  /** Starts work that outlives its call. Default: nothing does. */
  readonly background?: StartBackground | undefined;
  readonly toolSources: readonly ToolSource[];
  /** Whether the session has an MCP server of this name. Default: it has none. */
  readonly isServer?: (name: string) => boolean;
  /** Tools that are there and must not be called; the model does not see them. Asked at every step. */
  readonly hidden?: HiddenTools;
  /** 0 for the root agent. */
  readonly depth?: number;
  /** Adds what joins a turn besides its input. */
  readonly joinTurn?: JoinTurn;
  /** Whether an agent that wants to stop has done its work. */
  readonly checkStop?: StopCheck;
  /** Asked before an input begins that came with a token and had to wait. Absent: none of those begins. */
  readonly checkToken?: CheckToken;
  /** Where an earlier run left the session; absent for a new one. */
  readonly earlier?: Reopened;
  readonly subscribers?: readonly Subscriber[];
  /** A snapshot of the conversation is kept after so many events, where the log has a place for it. */
  readonly snapshotEveryEvents?: number;
}

export interface EngineSession {
  readonly id: SessionId;
  readonly bus: EventBus;
  /** The running turn, if any. */
  readonly running: RunningTurn | undefined;
  readonly model: string;
  /** What still applies, however long ago it was said. */
  readonly lasting: Lasting;
  /** Something of the conversation was compacted. */
  readonly isCompacted: boolean;
  /** How many inputs wait for their turn, with those that are on their way into the log. */
  readonly queued: number;
  /** Those in the log, oldest first. */
  readonly waitingInputs: readonly QueuedInput[];
  /** Starts a turn, with a person's own `command` one without a model; throws TurnInProgress while another has the session. */
  send(originator: ClientId, content: readonly InputBlock[], command?: string): StartedTurn;
  /**
   * Keeps an input in the log and starts a turn with it as soon as none runs. Resolves when it is kept; rejects with QueueFull. One
   * whose `token` does not hold by then is refused in the log instead.
   */
  queue(by: ClientId, content: readonly InputBlock[], token?: InputToken): Promise<void>;
  /** Takes back an input that waits; resolves when that is in the log. Rejects with InputNotQueued. */
  withdraw(queued: number, by: ClientId): Promise<void>;
  /** Tells the running turn something; resolves when that is in the log. Rejects with NoTurnRunning or HookBlocked. */
  steer(by: ClientId, content: readonly InputBlock[]): Promise<void>;
  /** Compacts the conversation in a turn without input; throws as `send`. */
  compact(by: ClientId, focus: string | undefined): StartedTurn;
  /** No input that waits begins a turn until the returned function is called. */
  holdQueue(): () => void;
  /** Tries again what waits: something that kept it from its turn is over. */
  deliverQueued(): void;
  /** Ends the running turn; nothing when idle. */
  cancel(cause: CancelCause): void;
  /** Makes a call on behalf of another one, through the whole chain. */
  readonly nested: NestedCall;
  /** What an earlier run left behind; inputs are refused while a call of it waits for an answer. */
  readonly recovery: Recovery;
  /** Takes up what an earlier run left behind; the first thing after somebody is there to see it. */
  begin(): Promise<void>;
  /** Nothing that the session began is on its way to the store any more; to be awaited before its log is released. */
  settled(): Promise<void>;
  /** The tools that the model is shown now. */
  offered(): readonly Tool[];
  /** What the next turn would send first. Connects what a turn waits for; sends nothing and asks no hook. */
  preview(): Promise<RequestPreview>;
  /** From the next step on. */
  setModel(model: string): Promise<void>;
}

export function createSession(core: SessionCore, parts: SessionParts): EngineSession {
  const { id, clock, bus, redaction, log, schedule, state } = core;
  const { ids, store, earlier, depth = 0 } = parts;
  const conversation = earlier?.conversation ?? createConversation();
  const remains = earlier?.remains ?? createRemains();
  const inputs = earlier?.inputs ?? createInputQueue();
  const modelNow = (): string => state.turnModel ?? state.model;

  const keeper =
    log.snapshots &&
    createSnapshotKeeper({
      shelf: log.snapshots,
      conversation,
      remains,
      snapshotEvent: earlier?.snapshotEvent ?? 0,
      eventsSince: earlier?.eventsRead ?? 0,
      everyEvents: parts.snapshotEveryEvents ?? SNAPSHOT_EVERY_EVENTS,
      // A store that takes neither the snapshot nor the news has told onFailure.
      onProblem: (problem) => void reportSnapshot(bus, problem).catch(() => undefined),
    });
  bus.subscribe((event) => {
    conversation.apply(event);
    remains.apply(event);
    inputs.apply(event);
    keeper?.notice(event);
    // Before anybody else is told: whoever sees the end of a turn may start the next one.
    if (event.kind === "TurnEnded") leaveTurn(event.payload.turn);
  });
  for (const subscriber of parts.subscribers ?? []) bus.subscribe(subscriber);

  const provider = reachProvider({ provider: parts.provider, redaction, clock });
  const request = compose(parts.requestChain, provider);
  const compaction = parts.compaction && {
    compactor: parts.compaction.compactor,
    aside: compose(parts.compaction.chain, provider),
  };
  const hidden: HiddenTools = parts.hidden ?? (() => undefined);
  const allTools = (): readonly Tool[] => parts.toolSources.flatMap((source) => source.tools());
  const tools = (): readonly Tool[] => allTools().filter((tool) => hidden(tool.name) === undefined);
  const inner = createInnerCalls({
    session: id,
    clock,
    ids,
    depth,
    hidden,
    tools,
    dispatch: () => ({
      bus,
      handler: toolHandler,
      settings: parts.toolSettings,
      monotonicMs: () => clock.monotonicMs(),
    }),
  });
  const checkStop = parts.checkStop && inner.checking(parts.checkStop);
  const { nested } = inner;
  const runOwnCommand = createOwnCommands({ session: id, bus, ids, ofPerson: inner.ofPerson });
  const expandMentions =
    depth === 0
      ? createMentions({ session: id, bus, ids, nested, isServer: parts.isServer ?? (() => false) })
      : undefined;
  const joinTurn = parts.joinTurn && createTurnJoin({ session: id, ids, nested, conversation, join: parts.joinTurn });
  const { ask = nobodyThere, background } = parts;
  const toolHandler = compose(parts.toolChain, createRunTool({ nested, ask, background }));
  const queued = (): readonly number[] => inputs.waiting().map(({ id: waiting }) => waiting);
  const recovery = createRecovery({
    bus,
    remains,
    openCalls: earlier?.openCalls ?? [],
    ...defined({ answers: earlier?.answers }),
    handler: toolHandler,
    tools,
    depth,
    queued,
  });

  function start(
    originator: ClientId,
    content: readonly InputBlock[],
    kind: Pick<TurnInput, "queued" | "command" | "compact"> = {},
  ): StartedTurn {
    const turn = ids.turn();
    const abort = new AbortController();
    const steering = createSteering();
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const { signal } = abort;
    const startedAt = new Date(clock.now()).toISOString();
    state.running = { turn, originator, startedAt, signal, ended, abort, steering };
    bus.setOriginator(originator);
    const input = { turn, originator, content, signal, ...kind };
    return startedTurn(turn, (onStart) => run({ ...input, onStart }, steering).finally(resolve));
  }

  function refuseWhileBusy(): void {
    if (state.running !== undefined) {
      const { originator: other, startedAt } = state.running;
      throw new ReasonError("TurnInProgress", { originator: other, ts: startedAt });
    }
    for (const { name: tool, callId: call_id } of recovery.orphans)
      throw new ReasonError("OrphanUnresolved", { tool, call_id });
  }

  /** Nothing when another turn has begun since. */
  function leaveTurn(turn: TurnId): void {
    if (state.running?.turn !== turn) return;
    state.running = undefined;
    state.turnModel = undefined;
    bus.setOriginator(undefined);
  }

  const queue = createQueueDelivery({
    session: id,
    bus,
    inputs,
    checkToken: parts.checkToken,
    isFree: () => state.running === undefined && recovery.orphans.length === 0,
    schedule,
    // Whoever wants to know how it ended reads the log.
    start: ({ id: queued, by, content }) => start(by, content, { queued }).done,
  });

  const hookParts = {
    session: id,
    bus,
    depth,
    ...defined({ hooks: parts.hooks }),
    model: modelNow,
  };

  async function run(input: TurnInput, steering: Steering) {
    try {
      return await runTurn(
        {
          session: id,
          steering,
          queued,
          bus,
          conversation,
          redaction,
          ids,
          request,
          toolHandler,
          runOwnCommand,
          toolSettings: parts.toolSettings,
          tools,
          hidden,
          depth,
          ...defined({
            hooks: parts.hooks,
            expandMentions,
            joinTurn,
            beforeTurn: parts.beforeTurn,
            beforeStep: parts.beforeStep,
            askInStep: parts.askInStep,
            checkStop,
            compaction,
            settle: parts.settle,
            beforeEnd: parts.beforeEnd,
            takeUsed: parts.takeUsed,
          }),
          model: modelNow,
          useModel: (next) => {
            state.turnModel = next;
          },
          maxSteps: parts.maxSteps,
          monotonicMs: () => clock.monotonicMs(),
          spent: remains.spent,
          delegated: () => remains.delegated,
          labels: () => remains.labels,
          planMode: () => remains.planMode,
          lasting: () => remains.lasting.ids,
        },
        input,
      );
    } finally {
      // One whose end could not be recorded was not left yet.
      leaveTurn(input.turn);
      // After whoever waits for this turn: they may want to say something first.
      if (inputs.waiting().length > 0) schedule(queue.deliver, 0);
    }
  }

  return {
    id,
    bus,
    recovery,
    nested,
    lasting: remains.lasting,
    get running() {
      return state.running;
    },
    get model() {
      return state.model;
    },
    get isCompacted() {
      return conversation.isCompacted;
    },
    get queued() {
      return queue.waiting;
    },
    get waitingInputs() {
      return inputs.waiting();
    },
    send(originator, content, command) {
      refuseWhileBusy();
      return start(originator, content, defined({ command }));
    },
    compact(by, focus) {
      refuseWhileBusy();
      return start(by, [], { compact: defined({ focus }) });
    },
    queue: queue.add,
    withdraw: queue.withdraw,
    steer: createSteer({ session: id, bus, hooks: hookParts, running: () => state.running, expandMentions }),
    holdQueue: queue.hold,
    cancel(cause) {
      state.running?.abort.abort(cause);
    },
    async begin() {
      await reportLog(bus, log, earlier?.snapshotProblem);
      await recovery.begin();
      queue.deliver();
    },
    deliverQueued: queue.deliver,
    offered: tools,
    async preview() {
      await parts.beforeTurn?.();
      return previewRequest({
        session: id,
        turn: ids.turn(),
        originator: ids.client(),
        model: modelNow(),
        history: conversation.messages(),
        pinned: conversation.pinned(),
        chain: parts.previewChain?.() ?? parts.requestChain,
        redaction,
        tools: allTools(),
        hidden,
      });
    },
    async settled() {
      await keeper?.settled();
      bus.stopOwing();
    },
    async setModel(next) {
      await bus.publish("ModelChanged", { model: next, previous: state.model });
      state.model = next;
      state.turnModel = undefined;
      await store.update(id, { model: next });
    },
  };
}

async function nobodyThere(): Promise<undefined> {
  return undefined;
}
