/**
 * A campaign of calls through the whole program, on ports that write down what reaches them: built-in tools, scripts, hooks,
 * calls inside calls, a tool that misuses its ports; allowed, denied, blocked, cancelled. Afterwards each effect that reached a
 * port is looked for on the record.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type EffectPorts, promptReference, resourceReference, serverToolName } from "#base";
import type { EffectNote, Plugin, Tool, ToolContext, ToolSource } from "#engine";
import { type CallId, type Event, forSession, type SessionCommandKind, type SessionCommandOf } from "#protocol";
import { createBuiltinTools } from "#tools";
import { createSystemClock } from "#world";
import { callingProvider, type WantedCall } from "./calling-provider.ts";
import { stdioServer } from "./mcp-world.ts";
import { openMemoryHarness } from "./memory-harness.ts";
import { openProjects } from "./open-projects.ts";
import { createRng } from "./tampering.ts";

export interface ReceiptCampaign {
  /** Calls that the record knows, those inside other calls included. */
  readonly calls: number;
  readonly outcomes: Readonly<Record<string, number>>;
  /** Effects that reached a port, by kind. */
  readonly effects: Readonly<Record<string, number>>;
  readonly hookEffects: number;
  /** For a person who typed. */
  readonly lookupEffects: number;
  /** What has no receipt, one line each. */
  readonly unreceipted: readonly string[];
  /** What a receipt claims and no port has seen, one line each. */
  readonly unseen: readonly string[];
}

/** One thing that reached a port below the gate. */
interface Seen extends EffectNote {
  readonly call: CallId | undefined;
  /** Events that were durable by then. */
  readonly at: number;
}

const CALLS_A_STEP = 12;
const STEPS_A_TURN = 8;
const CANCELLED_TURNS = 0.08;

export interface CampaignOptions {
  readonly seed?: number;
  /** Has one effect on the ports themselves, to see that it is noticed. */
  readonly past?: boolean;
}

export async function runReceiptCampaign(
  wanted: number,
  { seed = 7, past = false }: CampaignOptions = {},
): Promise<ReceiptCampaign> {
  const rng = createRng(seed);
  const outside = realpathSync(mkdtempSync(join(tmpdir(), "harness-receipts-")));
  const root = join(outside, "workspace");
  const server = createServer((request, response) => {
    request.resume();
    response.end("hello");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // listens on TCP
  for (const [file, content] of Object.entries(projectFiles(url))) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), content);
  }

  const seen: Seen[] = [];
  const events: Event[] = [];
  let started = 0;
  let bare: EffectPorts | undefined;
  const current = new AsyncLocalStorage<CallId>();
  const observed: Plugin = {
    name: "observed",
    register(host) {
      host.addProvider(callingProvider(() => (started < wanted ? oneStep(rng, url) : [])));
      host.useTool((call, next) => current.run(call.id, () => next(call)));
      host.onEvent((event) => {
        events.push(event);
        if (event.kind === "ToolCallStarted") started += 1;
      });
    },
  };
  const see = (port: EffectNote["port"], target: string): void => {
    seen.push({ port, target, call: current.getStore(), at: events.length });
  };
  const harness = await openMemoryHarness({
    settings: {
      sandbox: "off",
      mcpServers: [stdioServer("listing", [join(import.meta.dirname, "listing-mcp-server.ts"), "3"])],
      maxSteps: STEPS_A_TURN,
      network: { allowedDomains: ["127.0.0.1"] },
      tools: { execution: "auto", onError: "continue" },
      permissions: [
        ...[
          "fs.*",
          "exec",
          "web.fetch",
          "files",
          "run",
          "send",
          "many",
          "inner",
          "made",
          "late",
          "meta.*",
          "mcp.listing.*",
        ].map((rule) => {
          return { effect: "allow" as const, rule, source: "config.toml:1" };
        }),
        { effect: "ask", rule: "fs.write(asked/**)", source: "config.toml:2" },
        { effect: "deny", rule: "fs.*(denied/**)", source: "config.toml:3" },
        { effect: "deny", rule: "Bash(rm *)", source: "config.toml:4" },
      ],
    },
    env: { PATH: process.env.PATH, HOME: outside },
    workspace: root,
    model: "calling:one",
    undo: { directory: join(outside, "undo"), key: Buffer.alloc(32, 1) },
    plugins: [observed],
    toolSources: [createBuiltinTools(createSystemClock()), lateTool()],
    projects: openProjects,
    observePorts(ports) {
      bare = observing(ports, see);
      return bare;
    },
  });
  const client = harness.control.connect({
    identityClass: "human",
    interactive: true,
    onEvent(event) {
      if (event.kind !== "PermissionRequested") return;
      const decision = rng() < 0.7 ? "allow_once" : "deny";
      // What was asked about may be gone with its turn.
      submit({ kind: "AnswerPermission", call_id: event.payload.call_id, decision }).catch(() => undefined);
    },
  });
  const { session } = await client.submit({ kind: "CreateSession" });
  const submit = <Kind extends SessionCommandKind>(command: SessionCommandOf<Kind>) =>
    client.submit(forSession(session, command));
  try {
    if (past) await bare?.files.write("past-the-gate.txt", Buffer.from("x"));
    for (let turn = 0; started < wanted; turn++) {
      const plan = turn % 25 === 24;
      if (plan) await submit({ kind: "EnterPlanMode" });
      // One that is typed while the turn runs.
      const typed = turn % 10 === 0 ? submit({ kind: "CompleteInput", text: "see @a" }) : undefined;
      const { done } = await submit({ kind: "SendInput", content: [{ type: "text", text: `turn ${turn}` }] });
      if (rng() < CANCELLED_TURNS) {
        const after = started + Math.floor(rng() * CALLS_A_STEP * 3);
        while (started < Math.min(after, wanted)) await new Promise((resolve) => setImmediate(resolve));
        await submit({ kind: "CancelTurn" }).catch(() => undefined); // it may have ended by itself
      }
      await Promise.all([done, typed]);
      if (plan) await submit({ kind: "ExitPlanMode", approve: true });
    }
  } finally {
    await harness.shutdown();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    rmSync(outside, { recursive: true, force: true });
  }
  return judged(events, seen);
}

/** Joins what the ports saw to what the record says. */
function judged(events: readonly Event[], seen: readonly Seen[]): ReceiptCampaign {
  const intents = new Map<string, { at: number; reads: boolean }>();
  const outcomes = new Map<string, { at: number; effects: string[]; more: number }>();
  const hooks: { key: string; at: number }[] = [];
  const lookups: { key: string; at: number }[] = [];
  const counted: Record<string, number> = {};
  let calls = 0;
  for (const [at, event] of events.entries()) {
    if (event.kind === "ToolCallStarted") calls += 1;
    if (event.kind === "ToolResult") counted[event.payload.outcome] = (counted[event.payload.outcome] ?? 0) + 1;
    if (event.kind === "ToolIntent") {
      intents.set(event.payload.call_id, { at, reads: event.payload.class === "read_only" });
    }
    if (event.kind === "HookIntent") hooks.push({ key: keyOf(event.payload), at });
    if (event.kind === "LookupIntent") lookups.push({ key: keyOf(event.payload), at });
    if (event.kind === "ToolOutcome") {
      const effects = (event.payload.effects ?? []).map(keyOf);
      outcomes.set(event.payload.call_id, { at, effects, more: event.payload.more_effects ?? 0 });
    }
  }
  const unreceipted: string[] = [];
  const byPort: Record<string, number> = {};
  let hookEffects = 0;
  let lookupEffects = 0;
  for (const effect of seen) {
    byPort[effect.port] = (byPort[effect.port] ?? 0) + 1;
    const key = keyOf(effect);
    const hook = hooks.findIndex((intent) => intent.key === key && intent.at < effect.at);
    const lookup = lookups.findIndex((intent) => intent.key === key && intent.at < effect.at);
    const outcome = effect.call === undefined ? undefined : outcomes.get(effect.call);
    const listed = outcome?.effects.indexOf(key) ?? -1;
    if (outcome !== undefined && (listed >= 0 || outcome.more > 0)) {
      if (listed >= 0) outcome.effects.splice(listed, 1);
      else outcome.more -= 1;
      const intent = intents.get(effect.call ?? "");
      // What only reads is written with its result; its intent comes first there, too.
      const intentFirst = intent !== undefined && (intent.reads ? intent.at < outcome.at : intent.at < effect.at);
      if (!intentFirst) unreceipted.push(`${key}: no intent was durable before it`);
      else if (effect.at > outcome.at) unreceipted.push(`${key}: after the outcome of its call`);
    } else if (hook >= 0) {
      hooks.splice(hook, 1);
      hookEffects += 1;
    } else if (lookup >= 0 && effect.call === undefined) {
      lookups.splice(lookup, 1);
      lookupEffects += 1;
    } else unreceipted.push(`${key}: in no receipt (call ${effect.call ?? "none"})`);
  }
  const unseen = [
    ...[...outcomes].flatMap(([id, { effects }]) => effects.map((key) => `${key} of ${id}`)),
    ...hooks.map(({ key }) => `${key} of a hook`),
    ...lookups.map(({ key }) => `${key} looked up`),
  ];
  return { calls, outcomes: counted, effects: byPort, hookEffects, lookupEffects, unreceipted, unseen };
}

function keyOf({ port, target }: { readonly port: string; readonly target: string }): string {
  return `${port} ${target}`;
}

function observing(
  { files, processes, web, servers, memory }: EffectPorts,
  see: (port: EffectNote["port"], target: string) => void,
): EffectPorts {
  return {
    files: {
      root: files.root,
      locate: (path) => files.locate(path),
      stat: (path) => files.stat(path),
      read: (path, maxBytes) => files.read(path, maxBytes),
      list: (path) => files.list(path),
      write(path, content) {
        see("write", path);
        return files.write(path, content);
      },
      makeDirectory(path) {
        see("write", `${path}/`);
        return files.makeDirectory(path);
      },
      move(from, to) {
        see("move", `${from} → ${to}`);
        return files.move(from, to);
      },
      remove(path, options) {
        see("remove", path);
        return files.remove(path, options);
      },
    },
    processes: {
      run(spec, signal) {
        see("process", `${spec.file} (${spec.args.length} arguments)`);
        return processes.run(spec, signal);
      },
    },
    web: {
      get(request, signal) {
        see("connect", new URL(request.url).host);
        return web.get(request, signal);
      },
      post(request, signal) {
        see("connect", new URL(request.url).host);
        return web.post(request, signal);
      },
    },
    servers: {
      call(request, signal) {
        see("server", serverToolName(request.server, request.tool));
        return servers.call(request, signal);
      },
      resources(server, timeoutMs, signal) {
        see("server", `mcp.resources ${server}`);
        return servers.resources(server, timeoutMs, signal);
      },
      read(request, signal) {
        see("server", resourceReference(request.server, request.uri));
        return servers.read(request, signal);
      },
      prompt(request, signal) {
        see("server", promptReference(request.server, request.prompt));
        return servers.prompt(request, signal);
      },
      complete(completion, signal) {
        const { server, of } = completion;
        see("server", "prompt" in of ? promptReference(server, of.prompt) : resourceReference(server, of.template));
        return servers.complete(completion, signal);
      },
    },
    memory: {
      search: (query, limit) => memory.search(query, limit),
      write(draft) {
        see("memory", `${draft.scope}/${draft.name}`);
        return memory.write(draft);
      },
      forget(scope, name) {
        see("memory", `${scope}/${name}`);
        return memory.forget(scope, name);
      },
    },
  };
}

/** Keeps its ports and uses them when it has ended. */
function lateTool(): ToolSource {
  let kept: ToolContext | undefined;
  const tool: Tool = {
    name: "late",
    label: "Late",
    class: "mutating",
    description: "",
    parameters: { type: "object" },
    async run(_args, context) {
      await kept?.ports.files.write("late.txt", Buffer.from("late")).catch(() => undefined);
      const later = context.ports;
      setTimeout(() => void later.files.remove("a.txt", { recursive: false }).catch(() => undefined), 1);
      void later.files.write("unawaited.txt", Buffer.from("x")).catch(() => undefined);
      kept = context;
      return { content: [] };
    },
  };
  return { name: "late", tools: () => [tool] };
}

type Rng = () => number;

/** How often each kind of call is made; programs are slow, so there are fewer. */
const KINDS: readonly (readonly [weight: number, make: (file: string, url: string, rng: Rng) => WantedCall])[] = [
  [14, (file) => ["fs.write", { path: file, content: file }]],
  [6, (file) => ["fs.edit", { path: "b.txt", old_text: "b", new_text: `b${file.length}` }]],
  [6, (file) => ["fs.move", { from: file, to: `${file}.moved` }]],
  [8, (file) => ["fs.remove", { path: file }]],
  [8, () => ["fs.read", { path: "a.txt" }]],
  [4, (file) => ["fs.write", { path: `denied/${file}`, content: "" }]],
  [3, (file) => ["fs.write", { path: `asked/${file}`, content: "" }]],
  [4, (file) => ["fs.write", { path: `blocked/${file}`, content: "" }]],
  [2, (file) => ["fs.write", { path: `../${file}`, content: "" }]],
  [5, (file) => ["mcp.listing.look_1", { at: file }]],
  [2, () => ["mcp.listing.look_2", { at: 7 }]],
  [1, () => ["fs.search", { pattern: "a", path: "src" }]],
  [2, (file) => ["exec", { command: `echo ${file}` }]],
  [3, (file) => ["exec", { command: `rm ${file}` }]],
  [2, () => ["exec", { command: "security find-generic-password" }]],
  [6, (file, url) => ["web.fetch", { url: `${url}/${file}` }]],
  [3, () => ["web.fetch", { url: "http://127.0.0.2:1/" }]],
  [8, (file) => ["files", { path: file }]],
  [2, () => ["run", {}]],
  [5, (_file, url) => ["send", { url }]],
  [4, (file) => ["inner", { path: file }]],
  [4, (file) => ["meta.call_tool", { name: "fs.write", args: { path: file, content: "x" } }]],
  [1, () => ["meta.call_tool", { name: "exec", args: { command: "rm x" } }]],
  [3, (file) => ["made", { path: file }]],
  [3, () => ["late", {}]],
  [0.1, () => ["many", {}]],
  [1, () => ["nothing.there", {}]],
  [1, () => ["fs.write", { path: 7 }]],
];

function oneStep(rng: Rng, url: string): readonly WantedCall[] {
  return Array.from({ length: CALLS_A_STEP }, () => oneCall(rng, url));
}

function oneCall(rng: Rng, url: string): WantedCall {
  const total = KINDS.reduce((sum, [weight]) => sum + weight, 0);
  let at = rng() * total;
  const file = `f${Math.floor(rng() * 40)}.txt`;
  for (const [weight, make] of KINDS) {
    at -= weight;
    if (at < 0) return make(file, url, rng);
  }
  return ["fs.read", { path: "a.txt" }];
}

const tool = (parameters: string, script: string): string =>
  `---\nparameters: {${parameters}}\nscript: |\n${script.replace(/^/gm, "  ")}\n---\n\nFor the campaign.\n`;
const hook = (event: string, priority: number, when: string, script: string): string =>
  `---\nevent: ${event}\npriority: ${priority}\n${when}script: |\n  def handle(event, payload):\n${script.replace(/^/gm, "      ")}\n---\n`;

function projectFiles(url: string): Record<string, string> {
  const path = " path: { type: string } ";
  return {
    "a.txt": "a\n",
    "b.txt": "b\n",
    "src/b.txt": "a b c\n",
    "harness.md": "---\nmeta: { enabled: true }\n---\n\nBe brief.\n",
    ".harness/tools/files.md": tool(
      path,
      `def run(args):
    p = "scripts/" + args["path"]
    fs.mkdir("scripts")
    fs.write(p, "one")
    fs.append(p, "two")
    fs.replace(p, "two", "three")
    fs.copy(p, p + ".copy")
    if fs.exists(p + ".moved"):
        fs.remove(p + ".moved")
    fs.move(p + ".copy", p + ".moved")
    fs.remove(p)
    fs.write("denied/x", "never")
    return "ok"`,
    ),
    ".harness/tools/run.md": tool("", 'def run(args):\n    return exec.run("true", [])["exit_code"]'),
    ".harness/tools/send.md": tool(
      " url: { type: string } ",
      'def run(args):\n    http.get(args["url"] + "/get")\n    return http.post(args["url"] + "/post", {"a": 1})["status"]',
    ),
    ".harness/tools/many.md": tool(
      "",
      'def run(args):\n    for n in range(230):\n        fs.write("many.txt", str(n))\n    return "ok"',
    ),
    ".harness/tools/inner.md": tool(
      path,
      'def run(args):\n    fs.write("inner.txt", "x")\n    return meta.call_tool("fs.write", {"path": args["path"], "content": "inner"})',
    ),
    ".harness/tools/made.md": tool(
      path,
      `def run(args):
    if len(meta.list_tools("grown")) == 0:
        meta.register_tool("grown", "Grown.", {}, "def run(args):\\n    fs.write('grown.txt', 'x')\\n    return 1\\n")
    return meta.call_tool("grown", {})`,
    ),
    ".harness/hooks/guard.md": hook(
      "tool.pre",
      1,
      "",
      'if str(payload["args"].get("path", "")).startswith("blocked/"):\n    return block("not there")\nreturn allow()',
    ),
    ".harness/hooks/report.md": hook(
      "tool.post",
      5,
      'when: payload["name"] == "fs.move"\n',
      `http.post("${url}/report", "moved")\nreturn allow()`,
    ),
    ".harness/hooks/greet.md": hook("turn.start", 5, "", `http.get("${url}/turn")\nreturn allow()`),
  };
}
