/** A whole harness in this process, on a real mock vendor and a real folder, driven through the protocol as a client. */

import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Settings } from "#artifacts";
import { defined } from "#base";
import type { ControlClient, Reply } from "#control";
import type { TurnSummary } from "#engine";
import type { Harness, HarnessOptions } from "#program";
import {
  type Event,
  type EventKind,
  type EventOf,
  forSession,
  type SessionCommandKind,
  type SessionCommandOf,
  type SessionId,
} from "#protocol";
import { openMemoryHarness } from "./memory-harness.ts";
import { type MockProviderServer, startMockProvider } from "./mock-provider-server.ts";
import type { MockBlock, MockReply } from "./mock-reply.ts";
import { createTemporaryWorkspace, type TemporaryWorkspace } from "./temporary-workspace.ts";

export interface RigOptions extends Partial<Omit<HarnessOptions, "settings">> {
  readonly settings?: Partial<Settings>;
  readonly vendor?: "anthropic" | "openai";
  readonly interactive?: boolean;
  /** Decides about each request, before the prepared replies do. */
  readonly answer?: (body: unknown) => MockReply | undefined;
  readonly identityClass?: "human" | "agent";
  readonly extraEnv?: Readonly<Record<string, string>>;
  /** Folders before the usual search path, below the folder that holds the workspace. */
  readonly programFolders?: readonly string[];
  /** HOME, below the folder that holds the workspace. */
  readonly homeFolder?: string;
  /** Called with the workspace before the harness is made. */
  readonly prepare?: (workspace: TemporaryWorkspace) => void;
}

export interface HarnessRig {
  readonly harness: Harness;
  readonly vendor: MockProviderServer;
  readonly workspace: TemporaryWorkspace;
  readonly client: ControlClient;
  readonly session: SessionId;
  readonly events: Event[];
  of<Kind extends EventKind>(kind: Kind): EventOf<Kind>["payload"][];
  send(text?: string): Promise<TurnSummary>;
  submit<Kind extends SessionCommandKind>(command: SessionCommandOf<Kind>): Promise<Reply<Kind>>;
  /** The first event of this kind, now or when it comes. */
  next<Kind extends EventKind>(kind: Kind): Promise<EventOf<Kind>["payload"]>;
}

export async function createHarnessRig(replies: readonly MockReply[], options: RigOptions = {}): Promise<HarnessRig> {
  const vendor = await startMockProvider(defined({ answer: options.answer }));
  vendor.reply(...replies);
  const workspace = createTemporaryWorkspace();
  const name = options.vendor ?? "openai";
  const {
    settings,
    vendor: _,
    answer: __,
    interactive = false,
    identityClass = "human",
    programFolders = [],
    extraEnv = {},
    homeFolder,
    prepare,
    ...rest
  } = options;
  prepare?.(workspace);
  const path = [...programFolders.map((folder) => join(workspace.outside, folder)), process.env.PATH].join(":");
  const env = rest.env ?? {
    PATH: path,
    OPENAI_API_KEY: "test-key",
    ANTHROPIC_API_KEY: "test-key",
    OPENAI_BASE_URL: `${vendor.url}/v1`,
    ANTHROPIC_BASE_URL: vendor.url,
    ...(homeFolder === undefined ? {} : { HOME: join(workspace.outside, homeFolder) }),
    ...extraEnv,
  };
  const harness = await openMemoryHarness({
    env,
    workspace: workspace.root,
    model: `${name}:mock-model`,
    ...rest,
    ...defined({ settings }),
  });
  onTestFinished(async () => {
    await harness.shutdown();
    await vendor.close();
  });
  const events: Event[] = [];
  const waiting: { kind: EventKind; resolve: (event: Event) => void }[] = [];
  const client = harness.control.connect({
    identityClass,
    interactive,
    onEvent(event) {
      events.push(event);
      for (const entry of waiting.filter(({ kind }) => kind === event.kind)) entry.resolve(event);
    },
  });
  const { session } = await client.submit({ kind: "CreateSession" });
  return {
    harness,
    vendor,
    workspace,
    client,
    session,
    events,
    of: (kind) => events.filter((event) => event.kind === kind).map(({ payload }) => payload) as never,
    async send(text = "hello") {
      const { done } = await client.submit({ kind: "SendInput", session, content: [{ type: "text", text }] });
      return done;
    },
    // Every command of a rig is for its one session.
    submit: (command) => client.submit(forSession(session, command)),
    async next(kind) {
      const known = events.find((event) => event.kind === kind);
      const event = known ?? (await new Promise<Event>((resolve) => waiting.push({ kind, resolve })));
      return event.payload as never; // chosen by its kind
    },
  };
}

export function says(text: string): MockReply {
  return { type: "message", blocks: [{ type: "text", text }] };
}

export function calls(...requested: readonly (readonly [name: string, args: unknown])[]): MockReply {
  const blocks = requested.map(([name, args]): MockBlock => {
    return { type: "tool_call", name, arguments: typeof args === "string" ? args : JSON.stringify(args) };
  });
  return { type: "message", blocks };
}
