/** Records a session of a rig and replays its cassette, in another folder with the same files. */
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { defaultSettings } from "#artifacts";
import type { ControlClient } from "#control";
import type { TurnSummary } from "#engine";
import { assembleHarness, type Harness, type HarnessOptions } from "#program";
import type { Event, SessionId } from "#protocol";
import { createHeldKeys } from "#providers";
import { createSystemClock } from "#world";
import { createHarnessRig, type HarnessRig, type RigOptions } from "./harness-rig.ts";
import type { MockReply } from "./mock-reply.ts";

export interface Recording {
  readonly file: string;
  /** The log as JSON lines. */
  readonly log: string;
  /** The workspace as it was before. */
  readonly before: string;
  /** The workspace as it was after. */
  readonly after: string;
  readonly root: string;
  text(): string;
}

export interface RecordOptions extends RigOptions {
  /** Default: one input, "hello". */
  readonly drive?: (rig: HarnessRig) => Promise<unknown>;
}

export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "harness-cassette-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export async function record(replies: readonly MockReply[], options: RecordOptions = {}): Promise<Recording> {
  const { drive = (rig: HarnessRig) => rig.send(), prepare, ...rest } = options;
  const folder = temporaryFolder();
  const file = join(folder, "case.cassette");
  const before = join(folder, "before");
  const rig = await createHarnessRig(replies, {
    cassette: { record: file },
    ...rest,
    prepare(workspace) {
      prepare?.(workspace);
      cpSync(workspace.root, before, { recursive: true });
    },
  });
  await drive(rig);
  await rig.harness.shutdown();
  return {
    file,
    before,
    after: rig.workspace.root,
    root: rig.workspace.root,
    log: logOf(rig.events),
    text: () => readFileSync(file, "utf8"),
  };
}

export function logOf(events: readonly Event[]): string {
  return events.map((event) => `${JSON.stringify(event)}\n`).join("");
}

export interface Replay {
  readonly harness: Harness;
  readonly client: ControlClient;
  readonly session: SessionId;
  readonly events: Event[];
  readonly workspace: string;
  send(text?: string): Promise<TurnSummary>;
  log(): string;
}

/** On a copy of the files from before, without a key, a vendor or a search path. */
export async function startReplay(
  { file, before }: Pick<Recording, "file" | "before">,
  options: Partial<Omit<HarnessOptions, "settings">> & Pick<RigOptions, "settings"> = {},
): Promise<Replay> {
  const workspace = join(temporaryFolder(), "elsewhere");
  cpSync(before, workspace, { recursive: true });
  const { settings, ...rest } = options;
  const harness = await assembleHarness({
    env: { HOME: "/nobody" },
    credentials: createHeldKeys({}),
    clock: createSystemClock(),
    workspace,
    offlineAllowed: false,
    scenarioFile: (name) => name,
    store: { kind: "memory" },
    autoApprove: false,
    cassette: { replay: file },
    ...rest,
    settings: { ...defaultSettings, ...settings },
  });
  const events: Event[] = [];
  const client = harness.control.connect({
    identityClass: "human",
    interactive: false,
    onEvent: (event) => events.push(event),
  });
  const { session } = await client.submit({ kind: "CreateSession" });
  if (session === undefined) throw new Error("no session");
  return {
    harness,
    client,
    session,
    events,
    workspace,
    async send(text = "hello") {
      const { done } = await client.submit({ kind: "SendInput", session, content: [{ type: "text", text }] });
      if (done === undefined) throw new Error("no turn");
      return done;
    },
    log: () => logOf(events),
  };
}
