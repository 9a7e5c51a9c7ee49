/**
 * `harness verify`: one command that tries the whole path once, offline and in a scratch folder that goes away: standard-input
 * initialize, the list of tools, HTTP handshake on a socket and on loopback, a turn, redaction. Then it says how the daemon is.
 */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defined, isRecord, paint, visibleLine } from "#base";
import { askLocally, describeState, type LocalAnswer, lookForDaemon } from "#daemon";
import { httpBackend, type ListenAddress, openDaemonAccess, serveRpc, startHttpServer } from "#daemon/serving";
import { type Harness, openProgram } from "#program";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";
import { probeRedaction } from "./redaction-probe.ts";

interface Result {
  readonly step: string;
  readonly ok: boolean;
  readonly detail: string;
  readonly ms: number;
}

/** 0 when every step worked. */
export async function verifyCommand(ports: CliPorts, flags: { readonly json?: boolean }): Promise<ExitCode> {
  const { terminal, clock } = ports;
  const results: Result[] = [];
  async function step(name: string, run: () => Promise<string>): Promise<void> {
    const startMs = clock.monotonicMs();
    const told = await run().then(
      (detail) => ({ ok: true, detail }),
      async (error: unknown) => ({ ok: false, detail: await ports.outward.messageOf(error) }),
    );
    const result = { step: name, ...told, ms: Math.round(clock.monotonicMs() - startMs) };
    results.push(result);
    if (!flags.json) {
      const mark = result.ok ? paint(terminal, "green", "✓") : paint(terminal, "red", "✗");
      terminal.out(`${mark} ${name}: ${visibleLine(result.detail)} (${result.ms} ms)\n`);
    }
  }

  const scratch = mkdtempSync(join(tmpdir(), "harness-verify-"));
  try {
    await step("redaction", async () => `loaded: a made-up token becomes ${await probeRedaction(ports.outward)}`);
    await step("program", async () => {
      const { harness, close } = await openScratch(ports, scratch);
      try {
        await step("stdio initialize", () => tryStdio(ports, harness, scratch));
        await tryHttp(ports, harness, scratch, step);
        return `opened with ${harness.model}`;
      } finally {
        await close();
      }
    });
    await step("daemon", async () => describeState(await lookForDaemon(ports)));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  const isGood = results.every(({ ok }) => ok);
  if (flags.json) terminal.out(`${JSON.stringify({ ok: isGood, version: ports.build.version, steps: results })}\n`);
  return isGood ? 0 : 1;
}

async function openScratch(ports: CliPorts, scratch: string) {
  const { harness } = await openProgram(
    { ...ports, cwd: scratch },
    {
      flags: {
        store: "memory",
        undo: "off",
        model: `scripted:${join(ports.scenariosDir, "offline.yaml")}`,
        sandbox: "off",
      },
      offlineAllowed: true,
    },
  );
  return { harness, close: () => harness.shutdown() };
}

/** The bytes that an editor would send, through the same server. */
async function tryStdio(ports: CliPorts, harness: Harness, directory: string): Promise<string> {
  const params = { clientInfo: { name: "harness-verify", version: ports.build.version } };
  const line = `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`;
  let written = "";
  await serveRpc({
    control: harness.control,
    store: harness.store,
    slashCommands: (session) => harness.slashCommands(session),
    clock: ports.clock,
    identityClass: "human",
    directory,
    version: ports.build.version,
    input: (async function* () {
      yield Buffer.from(line);
    })(),
    write: async (text) => {
      written += text;
    },
    onClosed: () => undefined,
    shutdown: async () => undefined,
    outward: await ports.outward.load(),
    log: () => undefined,
  });
  const lines = written.split("\n").filter((one) => one !== "");
  const answers = lines.map((one): unknown => JSON.parse(one));
  const answer = answers.find((one) => isRecord(one) && one.id === 1);
  if (!isRecord(answer) || !isRecord(answer.result))
    throw new Error(`initialize was answered with ${written.slice(0, 500)}`);
  return `answered, ${lines.length} ${lines.length === 1 ? "line" : "lines"} of JSON and nothing else`;
}

async function tryHttp(
  ports: CliPorts,
  harness: Harness,
  scratch: string,
  step: (name: string, run: () => Promise<string>) => Promise<void>,
): Promise<void> {
  const { clock } = ports;
  const socketPath = join(scratch, "v.sock");
  const listen: ListenAddress[] = [
    { kind: "unix", path: socketPath },
    { kind: "tcp", host: "127.0.0.1", port: 0 },
  ];
  const backend = await httpBackend(ports, harness, await settingsOf(ports));
  // With a key, records and a token of its own, all in the scratch folder.
  const env = { ...ports.env, XDG_CONFIG_HOME: scratch, XDG_STATE_HOME: scratch };
  const access = openDaemonAccess({ ...ports, env }, {}, listen);
  const server = await startHttpServer({ backend, authenticate: access.authenticate, clock, listen });
  try {
    access.begin();
    const token = readFileSync(access.tokenFile, "utf8").trim();
    const port = server.addresses.flatMap((address) => (address.kind === "tcp" ? [address.port] : []))[0] ?? 0;
    const onSocket = (method: string, path: string, body?: object): Promise<LocalAnswer> =>
      askLocally({ socketPath, host: "localhost" }, { method, path, token, ...defined({ body }) });
    await step("http initialize (unix socket)", async () => handshakeOf(await onSocket("GET", "/v1/handshake")));
    await step("http initialize (loopback)", async () =>
      handshakeOf(
        await askLocally({ port, host: `127.0.0.1:${port}` }, { method: "GET", path: "/v1/handshake", token }),
      ),
    );
    await step("tools", async () => {
      const { tools } = field(await onSocket("GET", "/v1/tools"));
      const count = Array.isArray(tools) ? tools.length : 0;
      if (count === 0 || count !== harness.tools().length) throw new Error(`${count} tools were listed`);
      return `${count} tools, the same as in this process`;
    });
    await step("a turn", async () => {
      const { id } = field(await onSocket("POST", "/v1/sessions", {}));
      const content = [{ type: "text", text: "Hello" }];
      const turn = field(await onSocket("POST", `/v1/sessions/${String(id)}/input?wait=turn`, { content }));
      if (turn.outcome !== "answered") throw new Error(`the turn ended as ${String(turn.outcome)}`);
      return "answered";
    });
  } finally {
    await server.close();
    access.end();
  }
}

async function settingsOf(ports: CliPorts) {
  const { loadConfig } = await import("#program/user-config-file");
  return (await loadConfig(ports, undefined)).settings;
}

function handshakeOf(answer: LocalAnswer): string {
  const { protocol_version: version } = field(answer);
  if (typeof version !== "string") throw new Error("the answer has no protocol version");
  return `protocol ${version}`;
}

function field({ status, body }: LocalAnswer): Readonly<Record<string, unknown>> {
  if (status < 300 && isRecord(body)) return body;
  throw new Error(`it was answered with ${status}: ${JSON.stringify(body).slice(0, 500)}`);
}
