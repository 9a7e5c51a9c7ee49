/** A session in this process through which all ways lead: somebody answers, a plugin speaks, files are changed and restored. Free of any test library. */

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createProjectLoader, defaultSettings, trustsAll } from "#artifacts";
import { defined } from "#base";
import type { PluginHost, Redaction } from "#engine";
import { assembleHarness } from "#program";
import type { Event } from "#protocol";
import { createHeldKeys } from "#providers";
import { createScriptChecker } from "#script";
import { createSigner, harnessPaths, machineKey } from "#stores";
import { createBuiltinTools } from "#tools";
import { createSystemClock } from "#world";
import { undoPlace } from "../../src/program/undo-place.ts";
import { openDatabase } from "../../src/stores/sqlite/driver.ts";
import { type Canary, rawIn, sheetOf, variablesOf } from "./canaries.ts";
import { type Cargo, filesOf, refusalReply, served, turnReplies, WAYS, type Way } from "./canary-ways.ts";
import { type MockProviderServer, startMockProvider } from "./mock-provider-server.ts";

export interface CanaryPlace {
  readonly home: string;
  readonly workspace: string;
  readonly load: Cargo;
  readonly canaries: readonly Canary[];
  readonly vendor: MockProviderServer;
  readonly serverUrl: string;
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** Exits by name, as text in which a canary can be looked for. */
export type Exits = ReadonlyMap<string, string>;

export async function openCanaryPlace(load: Cargo): Promise<CanaryPlace> {
  const canaries = [...new Set(WAYS.flatMap((way) => load[way]))];
  const home = realpathSync(mkdtempSync(join(tmpdir(), "harness-canary-")));
  const workspace = join(home, "workspace");
  for (const [file, text] of Object.entries(filesOf(load))) {
    mkdirSync(dirname(join(workspace, file)), { recursive: true });
    writeFileSync(join(workspace, file), text);
  }
  mkdirSync(join(home, "tmp"));
  const vendor = await startMockProvider();
  const server: Server = createServer((request, response) => {
    const { headers, body } = served(load, request.url ?? "/");
    response.writeHead(200, headers).end(body);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const serverUrl = `http://localhost:${(server.address() as AddressInfo).port}`;
  return {
    home,
    workspace,
    load,
    canaries,
    vendor,
    serverUrl,
    env: {
      PATH: process.env.PATH ?? "",
      HOME: home,
      TMPDIR: join(home, "tmp"),
      XDG_DATA_HOME: join(home, "data"),
      XDG_CONFIG_HOME: join(home, "config"),
      XDG_STATE_HOME: join(home, "state"),
      XDG_CACHE_HOME: join(home, "cache"),
      OPENAI_API_KEY: "wh4tever-key-of-the-vendor-92aX",
      OPENAI_BASE_URL: `${vendor.url}/v1`,
      HARNESS_MODEL: "openai:mock-model",
      CANARY_SERVER: serverUrl,
      ...variablesOf(canaries),
    },
    async close() {
      await vendor.close();
      await new Promise((done) => server.close(done));
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** Runs the session to its end; `redaction` stands in for the one that ships. What was told comes first among the exits. */
export async function runCanarySession(place: CanaryPlace, redaction?: () => Promise<Redaction>): Promise<Exits> {
  const { load, env, vendor, workspace } = place;
  vendor.reply(...turnReplies(load, place.serverUrl, true), refusalReply(load));
  let host: PluginHost | undefined;
  const harness = await assembleHarness({
    settings: {
      ...defaultSettings,
      sandbox: "off",
      network: { allowedDomains: ["localhost"] },
      tools: { execution: "auto", onError: "continue" },
      permissions: [{ effect: "ask", rule: "exec(deny-me *)", source: "test" }],
    },
    env,
    credentials: createHeldKeys(env),
    clock: createSystemClock(),
    workspace,
    offlineAllowed: false,
    model: env.HARNESS_MODEL ?? "",
    scenarioFile: (file) => file,
    store: { kind: "sqlite", path: harnessPaths(env).sessionsDb, key: () => machineKey(env) },
    signer: createSigner(() => harnessPaths(env).configDir),
    undo: undoPlace({ env, clock: createSystemClock() }),
    autoApprove: false,
    plugins: [
      {
        name: "canary",
        register: (given) => {
          host = given;
        },
      },
    ],
    projects: async (root) => {
      const knownTools = createBuiltinTools(createSystemClock())
        .tools()
        .map(({ name }) => name);
      const loader = await createProjectLoader({ root, checker: createScriptChecker(), knownTools, trust: trustsAll });
      const { project, problems } = loader.load();
      if (project === undefined) throw new Error(JSON.stringify(problems));
      return { loader, project };
    },
    ...defined({ redaction }),
  });
  const events: Event[] = [];
  const client = harness.control.connect({
    identityClass: "human",
    interactive: true,
    onEvent(event) {
      events.push(event);
      if (event.kind === "QuestionAsked") {
        const { call_id } = event.payload;
        void client.submit({
          kind: "AnswerQuestion",
          session: event.session,
          call_id,
          answer: sheetOf(load.answer),
        });
      }
      if (event.kind === "PermissionRequested") {
        const { call_id, args } = event.payload;
        const isDenied = JSON.stringify(args).includes("deny-me");
        const reason = load.denial[denied % load.denial.length]?.text.slice(0, 2000);
        if (isDenied) denied += 1;
        void client.submit({
          kind: "AnswerPermission",
          session: event.session,
          call_id,
          ...(isDenied ? { decision: "deny", reason } : { decision: "allow_once" }),
        });
      }
    },
  });
  let denied = 0;
  let whileOpen = "";
  const summaries: unknown[] = [];
  try {
    const { session } = await client.submit({ kind: "CreateSession" });
    if (session === undefined) throw new Error("no session");
    await client.submit({ kind: "SetContext", session, values: contextValues(load) });
    for (const text of [sheetOf(load.input), "go on"]) {
      const { done } = await client.submit({ kind: "SendInput", session, content: [{ type: "text", text }] });
      summaries.push(await done);
    }
    for (const { text } of load.custom_event) await host?.emit(session, "canary", "note", { text });
    const report = await client.submit({ kind: "UndoTurn", session });
    summaries.push(report.result === undefined ? "nothing was undone" : "undone");
    whileOpen = bytesOf(place);
  } finally {
    await harness.shutdown();
  }
  return new Map([
    ["events at a subscriber", JSON.stringify(events)],
    ["answers to the client", JSON.stringify(summaries)],
    ["bytes on the disk while it runs, with the WAL", whileOpen],
    ...requestExits(vendor),
    ...storeExits(place),
  ]);
}

function contextValues(load: Cargo): Record<string, string> {
  return Object.fromEntries(load.context_value.map(({ text }, index) => [`value${index}`, text]));
}

/** What the vendor was sent, but for the header with its key. */
export function requestExits({ requests }: MockProviderServer): [string, string][] {
  const headers = requests.map(({ headers: { authorization: _, "x-api-key": __, ...rest } }) => rest);
  return [
    ["bodies of requests", JSON.stringify(requests.map(({ body }) => body))],
    ["headers of requests", JSON.stringify(headers)],
  ];
}

/** What lies on the disk, as bytes and, where it is encrypted, as its owner can read it. */
export function storeExits(place: CanaryPlace): [string, string][] {
  const { env } = place;
  const path = harnessPaths(env).sessionsDb;
  const db = openDatabase({ path, key: machineKey(env), clock: createSystemClock() });
  try {
    const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all() as string[];
    const rows = tables.map((table) => [table, db.prepare(`SELECT * FROM "${table}"`).all().map(readable)]);
    return [
      ["bytes on the disk", bytesOf(place)],
      ["rows of the database", JSON.stringify(rows)],
    ];
  } finally {
    db.close();
  }
}

/** Every file that the program has made outside the workspace, with its name. */
function bytesOf({ home }: CanaryPlace): string {
  return ["data", "config", "state", "cache", "tmp"]
    .flatMap((folder) => filesBelow(join(home, folder)))
    .map((file) => `${file}\n${readFileSync(file, "latin1")}`)
    .join("\n");
}

/** Blobs as text, so that one can be looked through. */
function readable(row: unknown): unknown {
  const fields = Object.entries(row as Record<string, unknown>);
  return Object.fromEntries(
    fields.map(([name, value]) => [name, Buffer.isBuffer(value) ? value.toString("latin1") : value]),
  );
}

export function filesBelow(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
  } catch {
    return []; // nothing was kept there
  }
}

/** Which ways have led out, by the canaries that only they had. */
export function waysOut(load: Cargo, exits: Exits): ReadonlySet<Way> {
  const all = [...exits.values()].join("\n");
  return new Set(WAYS.filter((way) => rawIn(all, load[way]).length > 0));
}
