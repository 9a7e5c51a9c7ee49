/**
 * The world of a program that is recorded or replayed, as the composition root hands it out: every part that can say something
 * from outside, behind the tape. Loaded only where there is a cassette.
 */

import { realpathSync } from "node:fs";
import { hostname } from "node:os";
import { join, relative, resolve } from "node:path";
import { defined, once, protectedNames } from "#base";
import {
  type CassetteHead,
  type CassetteRedactor,
  checkPlace,
  createPlayer,
  createRecorder,
  createWorkspaceChanges,
  readCassette,
  type Tape,
  type TapedClient,
  tapedFacts,
  tapedMemory,
  tapedPorts,
  tapedProvider,
  writeCassette,
} from "#cassette";
import type { Control, Reply } from "#control";
import type { EventBus, SessionStore } from "#engine";
import type { ServerLists } from "#mcp";
import {
  asCommand,
  type ClientId,
  type Command,
  type CommandKind,
  type CommandOf,
  type EventPayload,
  ReasonError,
  type SessionId,
} from "#protocol";
import type { ModelChoice } from "#providers";
import type { ProgramTape, SessionSandbox } from "#session";
import { createSystemRandom, createWorkspaceRestore, listedHost } from "#world";
import type { CassetteOption, HarnessOptions } from "./options.ts";
import { assembleRedactor } from "./redaction.ts";

export interface OpenedTape {
  readonly tape: ProgramTape;
  /** Those that were asked, or those of the recording. */
  readonly models: ModelChoice;
}

export async function openTape(
  option: CassetteOption,
  options: HarnessOptions,
  chooseModel: () => Promise<ModelChoice>,
): Promise<OpenedTape> {
  await preload();
  const workspace = resolve(options.workspace);
  const place: Place = { workspace, root: realRoot(workspace), home: options.env.HOME ?? "" };
  if ("record" in option) {
    const file = resolve(option.record);
    await checkPlace(file);
    const models = await chooseModel();
    const { model, fallbacks, offline } = models;
    const redactor = await createCassetteRedactor(options);
    // Before the first input, which is the first that is written. A cassette is made to be passed on: not without knowing every key.
    const untold = await options.credentials.told();
    if (untold !== undefined) throw untold;
    const tape = createRecorder({
      head: {
        ...place,
        platform: process.platform,
        hostname: hostname(),
        model: { model, fallbacks: [...fallbacks], offline },
      },
      clock: options.clock,
      random: createSystemRandom(),
      redactor,
      write: (text) => writeCassette(file, text),
    });
    return { tape: programTape(tape, place, file), models: tapedModels(tape, models) };
  }
  const cassette = await readCassette(resolve(option.replay));
  let redactor: Promise<CassetteRedactor> | undefined;
  const tape = createPlayer({
    cassette,
    redactor() {
      redactor ??= createCassetteRedactor(options);
      return redactor;
    },
  });
  const models = tapedModels(tape, recordedModels(cassette.head, options));
  return { tape: programTape(tape, place, cassette.file), models };
}

type Place = Pick<CassetteHead, "workspace" | "root" | "home">;

function programTape(tape: Tape, place: Place, cassetteFile: string): ProgramTape {
  const { head, clock, random, schedule, commands } = tape;
  const pairs = [
    [place.workspace, head.workspace],
    [place.root, head.root],
    [place.home, head.home],
  ] as const;
  const translate = (path: string, from: 0 | 1): string => {
    const pair = pairs.find((names) => names[from] !== "" && isWithin(names[from], path));
    return pair === undefined ? path : pair[from === 0 ? 1 : 0] + path.slice(pair[from].length);
  };
  const asRecorded = (path: string): string => translate(path, 0);
  const names = protectedNames().map(({ name }) => name);
  return {
    isOn: true,
    clock,
    random,
    schedule,
    commands,
    asRecorded,
    here(workspace) {
      if (!isWithin(head.workspace, workspace) && !isWithin(head.root, workspace)) {
        const detail = `With a cassette, sessions work only inside ${head.workspace}, but ${workspace} is outside it.`;
        throw new ReasonError("NotAllowed", detail);
      }
      return translate(workspace, 1);
    },
    store: (store) => tapedStore(tape, store),
    control: (control) => tapedControl(tape, control, asRecorded),
    keepRule: (keep) => (rule) =>
      tape.exchange<never, string>({ of: "kept-rule", request: rule, hear: () => undefined, live: () => keep(rule) }),
    session: (session) => ({
      machine: {
        platform: head.platform,
        hostname: head.hostname,
        random,
        variable: (name, read) => tape.fact({ session, name: "variable" }, name, read),
        secret: (name, read) => tape.secret({ session, name: "secret" }, name, read),
      },
      ports(ports, domains) {
        const root = join(head.root, relative(place.root, ports.files.root));
        const restore = createWorkspaceRestore(ports.files.root);
        const changes = createWorkspaceChanges({
          root: ports.files.root,
          restore,
          protectedNames: names,
          hidden: ports.files.hidden ?? [],
          file: cassetteFile,
        });
        const allowed = (url: URL): void => void listedHost(url, domains());
        return tapedPorts({ tape, session, root, ports, changes, allowed });
      },
      provider: (provider) => tapedProvider(tape, session, provider),
      programs: (facts) => tapedFacts(tape, session, facts),
      sandbox: (sandbox) => tapedSandbox(tape, session, sandbox),
      memory: (store) => tapedMemory(tape, session, store),
      servers: {
        listed: (live) =>
          tape.exchange<never, ServerLists>({ of: "server", session, request: "tools", hear: () => undefined, live }),
        changed: (live) =>
          tape.exchange<never, Awaited<ReturnType<typeof live>>>({
            ...{ of: "server", session, request: "changed resources", hear: () => undefined },
            live,
          }),
        checked: (check, live) =>
          tape.exchange({ of: "server", session, request: { check }, hear: () => undefined, live }),
      },
    }),
  };
}

/** No key is needed and no model is asked. One that is named and is not the recorded one is asked for, and found to differ. */
function recordedModels({ model }: CassetteHead, { model: named, settings }: HarnessOptions): ModelChoice {
  const wanted = named ?? settings.models[0]?.model;
  const isRecorded = wanted === undefined || wanted === model.model || model.model.endsWith(`:${wanted}`);
  return {
    ...model,
    model: isRecorded ? model.model : wanted,
    resolve: async (text) => text,
    provider: {
      name: "cassette",
      chat: () => Promise.reject(new Error("a replay calls no model")),
      models: async () => [],
      countTokens: () => 0,
    },
  };
}

function tapedModels(tape: Tape, models: ModelChoice): ModelChoice {
  return {
    ...models,
    resolve: (text) =>
      tape.exchange<never, string>({
        of: "model-name",
        request: text,
        hear: () => undefined,
        live: () => models.resolve(text),
      }),
  };
}

/** The log is our own: what it takes long for does not count as time. */
function tapedStore(tape: Tape, store: SessionStore): SessionStore {
  const { historyStart, turnCount, expiredTo } = store;
  return {
    create: (session) => tape.inside(() => store.create(session)),
    get: (id) => tape.inside(() => store.get(id)),
    list: (options) => tape.inside(() => store.list(options)),
    update: (id, change) => tape.inside(() => store.update(id, change)),
    delete: (id) => tape.inside(() => store.delete(id)),
    read: (id, options) => tape.inside(() => store.read(id, options)),
    ...(historyStart === undefined ? {} : { historyStart: (id) => tape.inside(() => historyStart.call(store, id)) }),
    ...(turnCount === undefined ? {} : { turnCount: (id) => tape.inside(() => turnCount.call(store, id)) }),
    ...(expiredTo === undefined ? {} : { expiredTo: (id) => tape.inside(() => expiredTo.call(store, id)) }),
    close: () => tape.inside(() => store.close()),
    async acquire(id) {
      const log = await tape.inside(() => store.acquire(id));
      const { repairs, headProblem, lastTs } = log;
      // Without a shelf for snapshots: they are kept beside the turn, when it is nobody's time.
      return {
        append: (drafts, now) => tape.inside(() => log.append(drafts, now)),
        openCalls: () => tape.inside(() => log.openCalls()),
        ...defined({ lastTs, repairs, headProblem }),
        release: () => tape.inside(() => log.release()),
      };
    },
  };
}

const UNTAPED: ReadonlySet<CommandKind> = new Set(["AttachSession", "DetachSession"]);

function tapedControl(tape: Tape, control: Control, asRecorded: (path: string) => string): Control {
  let ended: Promise<void> | undefined;
  const clients = new Map<ClientId, TapedClient>();
  const end = async (): Promise<void> => {
    try {
      await tape.shutdown(() => control.shutdown());
    } finally {
      await tape.finish();
    }
  };
  return {
    ...control,
    connect(options) {
      // A further connection of a client is no further client.
      const known = options.id === undefined ? undefined : clients.get(options.id);
      const taped = known ?? tape.connect(options);
      const { identityClass, interactive } = taped;
      const client = control.connect({ ...options, identityClass, interactive });
      if (known === undefined) taped.carryOut((command) => client.submit(command));
      clients.set(client.id, taped);
      return {
        ...client,
        submit<Kind extends CommandKind>(command: CommandOf<Kind>) {
          // Who listens is nothing that the session is told.
          if (UNTAPED.has(command.kind)) return client.submit(command);
          const sent = placed(asCommand(command), asRecorded);
          const run = (same: Command): Promise<unknown> => client.submit(same);
          // The tape carries out the same command, or rejects: this is the reply to it.
          return tape.command(taped.client, sent, run) as Promise<Reply<Kind>>;
        },
      };
    },
    // A cassette is written once.
    shutdown() {
      ended ??= end();
      return ended;
    },
  };
}

function placed(command: Command, asRecorded: (path: string) => string): Command {
  if (command.kind !== "CreateSession") return command;
  if (command.resume !== undefined) {
    const detail = "A resumed session cannot be recorded or replayed, because its beginning is not on the cassette.";
    throw new ReasonError("NotAllowed", detail);
  }
  return command.working_dir === undefined ? command : { ...command, working_dir: asRecorded(command.working_dir) };
}

type SandboxNote =
  | { readonly kind: "SandboxStatus"; readonly payload: EventPayload<"SandboxStatus"> }
  | { readonly kind: "NetworkConnection"; readonly payload: EventPayload<"NetworkConnection"> };

/** What it finds and which connections it opens comes from outside, unasked. A replay needs none. */
function tapedSandbox(tape: Tape, session: SessionId, sandbox: SessionSandbox): SessionSandbox {
  return {
    processes: sandbox.processes,
    recordTo(bus) {
      tape.onNote(session, (note) => publishNote(bus, note as SandboxNote));
      sandbox.recordTo({ publish: (kind, payload) => tape.note(session, { kind, payload }) });
    },
    // A replay decides as the recording did, whatever this machine has.
    hold: once(() =>
      tape.exchange({ of: "sandbox", session, request: {}, hear: () => undefined, live: () => sandbox.hold() }),
    ),
    namedByGit: () => sandbox.namedByGit(),
    isHeld: (path) => sandbox.isHeld(path),
    ensure: async () => (tape.mode === "record" ? sandbox.ensure() : undefined),
    close: async () => (tape.mode === "record" ? sandbox.close() : undefined),
  };
}

async function publishNote(bus: Pick<EventBus, "publish">, note: SandboxNote): Promise<void> {
  if (note.kind === "SandboxStatus") await bus.publish(note.kind, note.payload);
  else if (note.kind === "NetworkConnection") await bus.publish(note.kind, note.payload);
}

async function createCassetteRedactor(options: HarnessOptions): Promise<CassetteRedactor> {
  const redactor = await assembleRedactor(options);
  return { text: (text) => redactor.redact(text).text, json: (value) => redactor.redactJson(value).value };
}

/** What is loaded while a session runs takes a while that differs from run to run, so it is loaded before. */
async function preload(): Promise<void> {
  await Promise.all([
    import("#session/project"),
    import("#protocol/schemas"),
    import("@cfworker/json-schema"),
    import("@mdream/js"),
    import("@vscode/ripgrep"),
    import("diff"),
  ]);
}

function realRoot(workspace: string): string {
  try {
    return realpathSync(workspace);
  } catch (error) {
    const detail = `the workspace ${workspace} cannot be used: ${error instanceof Error ? error.message : String(error)}`;
    throw new ReasonError("ConfigInvalid", detail, { cause: error });
  }
}

function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}
