/** Sessions that are recorded on a real vendor, real files and real programs, and replayed elsewhere without any of them. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { defaultSettings } from "#artifacts";
import { type Tool, textOutput } from "#engine";
import { assembleHarness } from "#program";
import { createHeldKeys } from "#providers";
import { createSystemClock } from "#world";
import { type Recording, record, startReplay, temporaryFolder } from "./fakes/cassette-rig.ts";
import { calls, says } from "./fakes/harness-rig.ts";
import { startLoopbackServer } from "./fakes/loopback-server.ts";
import type { MockReply } from "./fakes/mock-reply.ts";
import { openProjects } from "./fakes/open-projects.ts";

/** Looks like a key of a vendor and is none. */
const PASSPHRASE = "correct horse battery staple";
const SECRET = `ghp_${"a1B2c3D4e5F6".repeat(3)}`;

async function replayed(recording: Recording, options: Parameters<typeof startReplay>[1] = {}, texts = ["hello"]) {
  const replay = await startReplay(recording, options);
  const turns = [];
  for (const text of texts) turns.push(await replay.send(text));
  await replay.harness.shutdown();
  return { ...replay, turns };
}

describe("the log of a replay is byte for byte that of the recording", () => {
  test("with files, commands and parallel reads, in another folder, again and again", async () => {
    const reads = Array.from(
      { length: 8 },
      (_, index) => ["fs.read", { path: `${index % 2 === 0 ? "a" : "b"}.txt` }] as const,
    );
    const recording = await record(
      [
        calls(...reads, ["fs.search", { pattern: "A", path: "." }], ["fs.list", { path: "." }]),
        calls(["fs.write", { path: "made.txt", content: "made\n" }]),
        calls([
          "exec",
          { command: "pwd; echo one > from-command.txt; mkdir d; ln -s ../b.txt d/l; rm a.txt; echo later >&2" },
        ]),
        calls(["fs.read", { path: "from-command.txt" }], ["fs.read", { path: "d/l" }], ["fs.read", { path: "a.txt" }]),
        says("done"),
      ],
      {
        autoApprove: true,
        prepare: (workspace) => {
          workspace.put("a.txt", "A\n");
          workspace.put("b.txt", "B\n".repeat(10_000));
        },
      },
    );
    for (let run = 0; run < 20; run++) {
      const replay = await replayed(recording, { autoApprove: true });
      expect(replay.log()).toBe(recording.log);
      expect(readFileSync(join(replay.workspace, "from-command.txt"), "utf8")).toBe("one\n");
      expect(existsSync(join(replay.workspace, "a.txt"))).toBe(false);
    }
  });

  test("when the model names files by the path that the workspace had", async () => {
    let root = "";
    const replies: MockReply[] = [];
    const recording = await record(replies, {
      prepare(workspace) {
        root = workspace.root;
        workspace.put("a.txt", "A\n");
      },
      async drive({ vendor, send }) {
        vendor.reply(
          calls(["fs.read", { path: join(root, "a.txt") }], ["fs.read", { path: "/etc/hostname" }]),
          says("done"),
        );
        await send();
      },
    });
    const replay = await replayed(recording);
    expect(replay.log()).toBe(recording.log);
    expect(replay.log()).not.toContain(replay.workspace);
    expect(replay.log()).toContain(`is outside the workspace ${root}`);
  });

  test("with text that comes slowly, thinking, a retry and several turns", async () => {
    const slow = { pace: () => new Promise<void>((resolve) => setTimeout(resolve, 5)) };
    const recording = await record(
      [
        { type: "message", blocks: [{ type: "text", text: "one two three four five six", deltas: 12 }], ...slow },
        { type: "http", status: 529, headers: { "retry-after": "0" } },
        {
          type: "message",
          blocks: [
            { type: "thinking", text: "hm hm", signature: "sig", deltas: 3 },
            { type: "text", text: "seven eight", deltas: 4 },
          ],
          ...slow,
        },
      ],
      {
        vendor: "anthropic",
        async drive(rig) {
          await rig.send("first");
          await rig.send("second");
        },
      },
    );
    expect(recording.log.match(/"kind":"TextDelta"/g)?.length).toBeGreaterThan(3);
    expect(recording.log).toContain('"terminal":false');
    expect((await replayed(recording, {}, ["first", "second"])).log()).toBe(recording.log);
  });

  test("with answers of a person, a question and a cancel in the middle of a command", async () => {
    const recording = await record(
      [
        calls(["fs.write", { path: "a.txt", content: "x" }]),
        calls(["ask_user", { question: "Which one?" }]),
        calls(["exec", { command: "echo begun; sleep 30" }]),
      ],
      {
        interactive: true,
        async drive(rig) {
          const turn = rig.send();
          const asked = await rig.next("PermissionRequested");
          await rig.submit({ kind: "AnswerPermission", call_id: asked.call_id, decision: "allow_once" });
          const question = await rig.next("QuestionAsked");
          await rig.submit({ kind: "AnswerQuestion", call_id: question.call_id, answer: "the second" });
          await rig.next("ToolCallProgress");
          await rig.submit({ kind: "CancelTurn" });
          expect(await turn).toMatchObject({ outcome: "cancelled" });
        },
      },
    );
    const replay = await replayed(recording);
    expect(replay.log()).toBe(recording.log);
    expect(replay.turns[0]).toMatchObject({ outcome: "cancelled" });
  });

  test("with a rule that was kept; the configuration of whoever replays it stays as it is", async () => {
    const kept: string[] = [];
    const keepRule = async (rule: string): Promise<string> => {
      kept.push(rule);
      return `config.toml:${kept.length}`;
    };
    const recording = await record([calls(["exec", { command: "echo hi > x" }]), says("done")], {
      ...{ interactive: true, keepRule },
      async drive(rig) {
        const turn = rig.send();
        const asked = await rig.next("PermissionRequested");
        await rig.submit({ kind: "AnswerPermission", call_id: asked.call_id, decision: "allow_tool" });
        await turn;
        await rig.submit({ kind: "PromoteRule", rule: "exec" });
      },
    });
    expect(kept).toEqual(["exec"]);
    const replay = await startReplay(recording, { keepRule });
    await replay.send();
    await replay.client.submit({ kind: "PromoteRule", session: replay.session, rule: "exec" });
    await replay.harness.shutdown();
    expect(replay.log()).toBe(recording.log);
    expect(kept).toEqual(["exec"]);
  });

  test("with a project whose scripts ask for time, chance, the machine, a secret, the web and a nap", async () => {
    const sent: unknown[] = [];
    const { port } = await startLoopbackServer((request, response) => {
      if (request.url === "/away") sent.push(request.headers["x-pass"]);
      if (request.url === "/away") response.writeHead(302, { location: "/there" }).end();
      else response.end(`seen ${process.hrtime.bigint().toString(36)}`);
    });
    const script = [
      "def run(args):",
      `    page = http.get("http://127.0.0.1:${port}/away", {"x-pass": secrets.get("DEPLOY")}, 5)["body"]`,
      "    sleep(0.02)",
      '    out = exec.run("date", ["+%N"])',
      '    return [page, time.now(), uuid.v4(), random(1, 1000000), os.hostname(), os.platform(), env("LANG"), str(secrets.get("DEPLOY")), out["stdout"], fs.stat("harness.md")]',
    ];
    const files = {
      "harness.md": "---\nnetwork: { allowed_domains: [127.0.0.1] }\npermissions: { allow: [probe] }\n---\nBe brief.\n",
      ".harness/tools/probe.md": `---\nparameters: {}\nscript: |\n${script.map((line) => `  ${line}`).join("\n")}\n---\n\nProbes.\n`,
      ".harness/hooks/note.md":
        "---\nevent: tool.post\npriority: 5\nscript: |\n  def handle(event, payload):\n      log.info(uuid.v4())\n      return allow()\n---\n",
    };
    const recording = await record([calls(["probe", {}], ["probe", {}]), says("done")], {
      projects: openProjects,
      autoApprove: true,
      extraEnv: { HARNESS_SECRET_DEPLOY: PASSPHRASE },
      prepare(workspace) {
        for (const [file, content] of Object.entries(files)) workspace.put(file, content);
      },
    });
    expect(recording.log).toContain("seen ");
    expect(sent).toEqual([PASSPHRASE, PASSPHRASE]);
    expect(recording.text()).not.toContain(PASSPHRASE);
    const replay = await replayed(recording, { projects: openProjects, autoApprove: true });
    expect(replay.log()).toBe(recording.log);
  });

  test.each(["sqlite", "jsonl"] as const)("when the recording was kept in %s", async (kind) => {
    const folder = temporaryFolder();
    const store =
      kind === "jsonl"
        ? ({ kind, root: folder } as const)
        : ({
            kind,
            path: join(folder, "log.db"),
            key: () => ({ bytes: Buffer.alloc(32, 7), source: "the test" }),
          } as const);
    const recording = await record([calls(["fs.list", { path: "." }], ["fs.list", { path: "." }]), says("done")], {
      store,
    });
    expect((await replayed(recording)).log()).toBe(recording.log);
  });

  test("when many run at the same time", async () => {
    const recording = await record([calls(["fs.list", { path: "." }], ["fs.list", { path: "." }]), says("done")]);
    const logs = await Promise.all(Array.from({ length: 20 }, async () => (await replayed(recording)).log()));
    expect(new Set(logs)).toEqual(new Set([recording.log]));
  });
});

describe("a session that is another one", () => {
  const replies = (): MockReply[] => [
    calls(["fs.read", { path: "a.txt" }]),
    calls(["exec", { command: "echo hi" }]),
    says("done"),
  ];
  const prepare = (workspace: { put(path: string, content: string): string }): void =>
    void workspace.put("a.txt", "A\n");
  const usual = { autoApprove: true };

  test("fails with the first field that differs and a diff", async () => {
    const recording = await record(replies(), { ...usual, prepare });
    const prompt = await replayed(recording, { ...usual, settings: { systemPrompt: "Be rude." } });
    expect(prompt.turns[0]).toMatchObject({ outcome: "error", reason: "CassetteMismatch" });
    expect(prompt.turns[0]?.message).toMatch(
      /case\.cassette:\d+\): model request 1 differs at system\[0\]: recorded "You are .*, now "Be rude\./s,
    );
    expect(prompt.turns[0]?.message).toMatch(/\n--- recorded\n\+\+\+ now\n@@ .* @@\n/);

    const model = await replayed(recording, { ...usual, model: "openai:another" });
    expect(model.turns[0]?.message).toContain(
      'model request 1 differs at model: recorded "openai:mock-model", now "openai:another"',
    );

    writeFileSync(join(recording.before, "a.txt"), "B\n");
    const file = await replayed(recording, usual);
    expect(file.turns[0]?.message).toMatch(
      /model request 2 differs at messages\[2\]\.content\[0\].*\\tA\\n.*now ".*\\tB\\n/,
    );
  });

  test("fails when a tool is described in another way or calls another program", async () => {
    const tool = (description: string, program: string): Tool => ({
      name: "greet",
      label: "Greet",
      class: "mutating",
      description,
      parameters: { type: "object", properties: {} },
      async run(_args, context) {
        const { code } = await context.ports.processes.run(
          { file: program, args: [], timeoutMs: 5000 },
          context.signal,
        );
        return textOutput(String(code));
      },
    });
    const source = (description: string, program: string) => ({
      ...usual,
      toolSources: [{ name: "own", tools: () => [tool(description, program)] }],
    });
    const recording = await record([calls(["greet", {}]), says("done")], source("Greets.", "true"));
    expect((await replayed(recording, source("Greets.", "true"))).log()).toBe(recording.log);
    const described = await replayed(recording, source("Insults.", "true"));
    expect(described.turns[0]?.message).toContain(
      'differs at tools[0].description: recorded "Greets.", now "Insults."',
    );
    const other = await replayed(recording, source("Greets.", "false"));
    expect(other.turns[0]).toMatchObject({ reason: "CassetteMismatch" });
    expect(other.turns[0]?.message).toContain('command 1 differs at file: recorded "true", now "false"');
  });

  test("is told when the input is another one, when the cassette has run out and when it is not used up", async () => {
    const recording = await record(replies(), { ...usual, prepare });
    const other = await startReplay(recording, usual);
    await expect(other.send("goodbye")).rejects.toThrow(
      /command SendInput differs at content\[0\]\.text: recorded "hello"/,
    );
    await other.harness.shutdown();

    const more = await startReplay(recording, usual);
    await more.send();
    await expect(more.send("once more")).rejects.toThrow("the recording has ended: the command SendInput is not on it");
    await more.harness.shutdown();

    const less = await startReplay(recording, usual);
    await expect(less.harness.shutdown()).rejects.toThrow(
      "the session ended early: it did not reach the command SendInput",
    );
  });

  test("is refused by a rule that is new, and the difference is told", async () => {
    const recording = await record(replies(), { ...usual, prepare });
    const permissions = [{ effect: "deny", rule: "Bash", source: "test" }] as const;
    const { turns } = await replayed(recording, { ...usual, settings: { permissions } });
    expect(turns[0]?.message).toMatch(/model request 3 differs at messages\[4\].*recorded ".*hi/);
  });
});

describe("a file that is no cassette", () => {
  test("is refused with its place", async () => {
    const recording = await record([says("done")]);
    const text = recording.text();
    const lines = text.split("\n");
    const at = lines.indexOf(' "type": "end",') + 1;
    const broken: readonly (readonly [content: string, message: RegExp])[] = [
      ["", /:1: it is empty/],
      ["no JSON\n", /:1: the file is cut off here/],
      [
        text.replace('"cassette": 1', '"cassette": 2'),
        /:1: it has version 2, but this version of Harness reads at most 1/,
      ],
      [lines.slice(0, -2).join("\n"), /: the file is cut off here: its last entry is missing/],
      [lines.slice(0, at + 1).join("\n"), new RegExp(`:${at - 1}: the file is cut off here: the entry does not end`)],
      [text.replace('"ask": 1', '"ask": 7'), /:\d+: ask 7 should be ask 1/],
      [text.replace('"type": "end"', '"type": "ends"'), new RegExp(`:${at - 1}: type: `)],
    ];
    for (const [content, message] of broken) {
      writeFileSync(recording.file, content);
      await expect(startReplay(recording)).rejects.toThrow(message);
      await expect(startReplay(recording)).rejects.toMatchObject({ reason: "CassetteInvalid" });
    }
  });

  test("may not write what steers other programs, nor outside the workspace", async () => {
    const recording = await record([calls(["exec", { command: "echo x > made.txt" }]), says("done")], {
      autoApprove: true,
    });
    const text = recording.text();
    expect(text).toContain('"path": "made.txt"');
    for (const path of [
      ".git/hooks/pre-commit",
      "sub/.git/config",
      ".harness/hooks/x.md",
      "../out.txt",
      "/tmp/out.txt",
    ]) {
      writeFileSync(recording.file, text.replace('"path": "made.txt"', `"path": ${JSON.stringify(path)}`));
      const replay = await startReplay(recording, { autoApprove: true });
      const turn = await replay.send();
      expect(turn.outcome).toBe("error");
      await replay.harness.shutdown();
      expect(existsSync(join(replay.workspace, path))).toBe(false);
    }
  });
});

describe("secrets", () => {
  test("are on no cassette, wherever they came from, and the replay goes through", async () => {
    const half = SECRET.length / 2;
    const recording = await record(
      [
        calls(["fs.read", { path: "token.txt" }]),
        calls([
          "exec",
          {
            command: `printf '${SECRET.slice(0, half)}'; sleep 0.05; printf '${SECRET.slice(half)}'; cat token.txt > copy.txt`,
          },
        ]),
        { type: "message", blocks: [{ type: "text", text: `The token is ${SECRET}.`, deltas: 12 }] },
      ],
      {
        autoApprove: true,
        prepare: (workspace) => void workspace.put("token.txt", `${SECRET}\n`),
        drive: (rig) => rig.send(`use ${SECRET}`),
      },
    );
    expect(recording.text()).not.toContain(SECRET);
    expect(recording.text()).not.toContain(Buffer.from(SECRET).toString("base64"));
    expect(recording.text()).not.toContain("test-key");
    expect(recording.text()).toContain("«redacted:");
    const first = await replayed(recording, { autoApprove: true }, [`use ${SECRET}`]);
    expect(first.turns[0]).toMatchObject({ outcome: "answered" });
    expect((await replayed(recording, { autoApprove: true }, [`use ${SECRET}`])).log()).toBe(first.log());
  });
});

test("a recording that has no place to go does not begin", async () => {
  const options = {
    settings: defaultSettings,
    env: {},
    clock: createSystemClock(),
    workspace: temporaryFolder(),
    model: "scripted:x",
    offlineAllowed: false,
    credentials: createHeldKeys({}),
    scenarioFile: (name: string) => name,
    store: { kind: "memory" },
    autoApprove: false,
  } as const;
  const cassette = { record: join(temporaryFolder(), "nowhere", "case.cassette") };
  await expect(assembleHarness({ ...options, cassette })).rejects.toMatchObject({ reason: "CassetteNotWritten" });
});
