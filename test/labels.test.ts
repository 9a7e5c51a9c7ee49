/** What a session holds decides what may leave it: labels on results, in rules and hooks, across turns and a resume. */
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Settings } from "#artifacts";
import type { EventOf } from "#protocol";
import { createDelegationRig } from "./fakes/delegation-rig.ts";
import { calls, createHarnessRig, type HarnessRig, says } from "./fakes/harness-rig.ts";
import { startLoopbackServer } from "./fakes/loopback-server.ts";
import { createProjectRig } from "./fakes/project-rig.ts";
import { agentFile, answers, delegates, HARNESS, makes } from "./fakes/roles.ts";
import { hasSandbox } from "./fakes/test-sandbox.ts";

const SECRET = `token = ghp_${"Zk3vQ9xT1mLr7WcB5nYp2HsDf8GjKa4uEoXi"}\n`;

function allowing(...rules: readonly string[]): Partial<Settings> {
  return {
    permissions: rules.map((rule) => ({ effect: "allow" as const, rule, source: "test" })),
    network: { allowedDomains: ["127.0.0.1"] },
    sandbox: "off",
  };
}

async function page(): Promise<string> {
  const { url } = await startLoopbackServer((_, response) => void response.end("a page"));
  return `${url}/`;
}

function textOf(result: EventOf<"ToolResult">["payload"] | undefined): string {
  return JSON.stringify(result?.content);
}

function outcomes(rig: HarnessRig): readonly string[] {
  return rig.of("ToolResult").map(({ outcome }) => outcome);
}

describe("labels", () => {
  test("follow what was read and fetched onto results and the end of the turn", async () => {
    const url = await page();
    const rig = await createHarnessRig(
      [
        calls(["fs_read", { path: "notes.txt" }]),
        calls(["web_fetch", { url }]),
        calls(["fs_read", { path: "a.txt" }]),
        says("ok"),
      ],
      {
        settings: allowing("WebFetch"),
        prepare: (workspace) => {
          workspace.put("notes.txt", SECRET);
          workspace.put("a.txt", "plain");
        },
      },
    );
    await rig.send();
    expect(rig.of("ToolResult").map(({ labels }) => labels)).toEqual([["private"], ["untrusted"], undefined]);
    expect(rig.of("TurnEnded").map(({ labels }) => labels)).toEqual([["private", "untrusted"]]);
  });

  test.each([
    ["private content alone", false, true, ["ok", "ok"]],
    ["untrusted content alone", true, false, ["ok", "ok"]],
    ["both", true, true, ["ok", "ok", "denied"]],
  ])("with %s, what a rule allows may leave or not", async (_, fetches, reads, expected) => {
    const url = await page();
    const first = [
      ...(fetches ? [calls(["web_fetch", { url: `${url}first` }])] : []),
      ...(reads ? [calls(["fs_read", { path: "notes.txt" }])] : []),
    ];
    const last = fetches && reads ? ["exec", { command: "touch out" }] : ["web_fetch", { url: `${url}last` }];
    const rig = await createHarnessRig([...first, calls(last as [string, unknown]), says("ok")], {
      settings: allowing("WebFetch", "Bash(touch *)"),
      prepare: (workspace) => void workspace.put("notes.txt", SECRET),
    });
    await rig.send();
    expect(outcomes(rig)).toEqual(expected);
    if (expected.includes("denied")) {
      const [judged] = rig.of("CallJudged");
      expect(judged?.judged.by).toBe("labels of the session");
      expect(judged?.judged.why).toContain("private content (fs.read notes.txt, where secrets were redacted)");
      expect(JSON.stringify(rig.vendor.requests.at(-1)?.body)).toContain("exec[private,untrusted]");
    }
  });

  test("quiet commands pass also then, and a rule that names both labels is not asked about", async () => {
    const url = await page();
    const rig = await createHarnessRig(
      [
        calls(["web_fetch", { url }], ["fs_read", { path: "notes.txt" }]),
        calls(["exec", { command: "ls" }]),
        calls(["web_fetch", { url: `${url}more` }]),
        says("ok"),
      ],
      {
        settings: { ...allowing("WebFetch", "WebFetch(domain:127.0.0.1)[private,untrusted]"), sandbox: "auto" },
        prepare: (workspace) => void workspace.put("notes.txt", SECRET),
      },
    );
    await rig.send();
    expect(outcomes(rig)).toEqual(["ok", "ok", "ok", "ok"]);
  });

  test.each([
    ["allow_argv_glob", "WebFetch(domain:127.0.0.1)[private,untrusted]"],
    ["allow_tool", "web.fetch[private,untrusted]"],
  ] as const)(
    "a yes for the session (%s) is one for a session that holds both: it is asked once",
    async (decision, rule) => {
      const url = await page();
      const rig = await createHarnessRig(
        [
          calls(["web_fetch", { url }], ["fs_read", { path: "notes.txt" }]),
          calls(["web_fetch", { url: `${url}first` }]),
          calls(["web_fetch", { url: `${url}second` }]),
          says("ok"),
        ],
        {
          settings: allowing("WebFetch"),
          interactive: true,
          prepare: (workspace) => void workspace.put("notes.txt", SECRET),
        },
      );
      const done = rig.send();
      const { call_id } = await rig.next("PermissionRequested");
      await rig.submit({ kind: "AnswerPermission", call_id, decision });
      await done;
      expect(rig.of("PermissionAnswered").map((answer) => answer.rule)).toEqual([rule]);
      expect(outcomes(rig)).toEqual(["ok", "ok", "ok", "ok"]);
    },
  );

  test("make a deny rule hold from the moment they are there", async () => {
    const url = await page();
    const rig = await createHarnessRig(
      [
        calls(["web_fetch", { url }]),
        calls(["fs_read", { path: "customers/a.txt" }]),
        calls(["web_fetch", { url }]),
        says("ok"),
      ],
      {
        settings: {
          ...allowing("WebFetch"),
          permissions: [
            { effect: "allow", rule: "WebFetch", source: "test" },
            { effect: "deny", rule: "WebFetch[private]", source: "test:1" },
          ],
          labelRules: [{ label: "private", rule: "Read(customers/**)", source: "test" }],
        },
        prepare: (workspace) => void workspace.put("customers/a.txt", "Ada"),
      },
    );
    await rig.send();
    expect(outcomes(rig)).toEqual(["ok", "ok", "denied"]);
    expect(rig.of("CallJudged").map(({ judged }) => judged.source)).toEqual(["test:1"]);
  });

  test("are in the payload of hooks, and a script cannot send what they hold back", async () => {
    const url = await page();
    const files = {
      "harness.md": [
        "---",
        "permissions: { allow: [WebFetch, send], private: [Read(customers/**)] }",
        "tools:",
        "  - name: send",
        "    description: Sends.",
        "    script: |",
        "      def run(args):",
        `          return http.get("${url}send")`,
        "hooks:",
        "  - name: seen",
        "    event: tool.pre",
        "    priority: 0",
        "    script: |",
        "      def handle(event, payload):",
        '          log.info("held " + ",".join(payload["labels"]))',
        "          return allow()",
        "---",
        "You test.",
        "",
      ].join("\n"),
      "customers/a.txt": "Ada",
    };
    const rig = await createProjectRig(
      files,
      [calls(["send", {}]), calls(["fs_read", { path: "customers/a.txt" }]), calls(["send", {}]), says("ok")],
      { settings: allowing() },
    );
    await rig.send();
    expect(outcomes(rig)).toEqual(["ok", "ok", "denied"]);
    expect(rig.results().at(-1)).toContain("the call may send data out");
    const logged = rig.of("ScriptLogged").map(({ message }) => message);
    expect(logged).toEqual(["held ", "held untrusted", "held private,untrusted"]);
  });

  test.each([
    ["a command", ["exec", { command: "cat customers/a.txt" }]],
    ["a command in its folder", ["exec", { command: "cd customers && cat a.txt" }]],
    ["a command with that folder as its own", ["exec", { command: "cat a.txt", cwd: "customers" }]],
    ["a command that reads folders", ["exec", { command: "grep -r Ada ." }]],
    ["a search", ["fs_search", { pattern: "Ada" }]],
    ["a search that counts", ["fs_search", { pattern: "Ada", output: "count" }]],
    ["a link", ["fs_read", { path: "link.txt" }]],
    ["a command and a link", ["exec", { command: "cat link.txt" }]],
  ] as const)("a rule about a file is about the file, also through %s", async (_, call) => {
    const rig = await createHarnessRig([calls(call as [string, unknown]), says("ok")], {
      settings: {
        ...allowing("Bash"),
        labelRules: [{ label: "private", rule: "Read(customers/**)", source: "test" }],
      },
      prepare: (workspace) => {
        workspace.put("customers/a.txt", "Ada\n");
        workspace.put("b.txt", "Bob\n");
        symlinkSync("customers/a.txt", join(workspace.root, "link.txt"));
      },
    });
    await rig.send();
    expect(rig.of("ToolResult").map(({ outcome, labels }) => [outcome, labels])).toEqual([["ok", ["private"]]]);
  });

  test.each([
    ["a command elsewhere", ["exec", { command: "cat b.txt" }]],
    ["a search that shows other files", ["fs_search", { pattern: "Bob" }]],
    ["a list of names", ["exec", { command: "ls customers" }]],
  ] as const)("such a rule is not about %s", async (_, call) => {
    const rig = await createHarnessRig([calls(call as [string, unknown]), says("ok")], {
      settings: { labelRules: [{ label: "private", rule: "Read(customers/**)", source: "test" }] },
      prepare: (workspace) => {
        workspace.put("customers/a.txt", "Ada\n");
        workspace.put("b.txt", "Bob\n");
      },
    });
    await rig.send();
    expect(rig.of("ToolResult").map(({ outcome, labels }) => [outcome, labels])).toEqual([["ok", undefined]]);
  });

  test("what a command reads from a file of secrets is private, whatever is in it", async () => {
    const rig = await createHarnessRig([calls(["exec", { command: "cat .env" }]), says("ok")], {
      settings: allowing("Bash(cat .env)"),
      prepare: (workspace) => void workspace.put(".env", "COLOUR=green\n"),
    });
    await rig.send();
    expect(rig.of("ToolResult").map(({ outcome, labels }) => [outcome, labels])).toEqual([["ok", ["private"]]]);
  });

  test("what a script reads has the labels that rules give to it", async () => {
    const files = {
      "harness.md": [
        "---",
        "permissions: { allow: [look], private: [Read(customers/**)] }",
        "tools:",
        "  - name: look",
        "    description: Looks.",
        "    script: |",
        "      def run(args):",
        '          return fs.read("customers/a.txt")',
        "---",
        "You test.",
        "",
      ].join("\n"),
      "customers/a.txt": "Ada",
    };
    const rig = await createProjectRig(files, [calls(["look", {}]), says("ok")]);
    await rig.send();
    expect(rig.of("ToolResult").map(({ outcome, labels }) => [outcome, labels])).toEqual([["ok", ["private"]]]);
  });

  test("are still there when the session is resumed", async () => {
    const url = await page();
    const rig = await createHarnessRig(
      [
        calls(["fs_read", { path: "notes.txt" }], ["web_fetch", { url }]),
        says("1"),
        calls(["web_fetch", { url }]),
        says("2"),
      ],
      { settings: allowing("WebFetch"), prepare: (workspace) => void workspace.put("notes.txt", SECRET) },
    );
    await rig.send();
    await rig.submit({ kind: "EndSession" });
    const { session } = await rig.client.submit({ kind: "CreateSession", resume: rig.session });
    const { done } = await rig.client.submit({
      kind: "SendInput",
      session: session!,
      content: [{ type: "text", text: "again" }],
    });
    await done;
    expect(outcomes(rig).at(-1)).toBe("denied");
  });

  test.each(["delegate", "delegate_async"])(
    "of a delegate are those of its parent, and the other way (%s)",
    async (way) => {
      const url = await page();
      const rig = await createDelegationRig(
        {
          "harness.md": HARNESS.replace(
            "model: roles:one\n",
            "model: roles:one\npermissions: { allow: [WebFetch, delegate, delegate_async], private: [Read(customers/**)] }\n",
          ),
          ".harness/agents/scout.md": agentFile("scout", "tools: [fs.read, web.fetch]\n"),
          "customers/a.txt": "Ada",
        },
        {
          root: [
            makes(["web.fetch", { url }]),
            delegates({ agent: "scout", task: "Look." }, way),
            ...(way === "delegate" ? [] : [makes(["task.await", {}])]),
            makes(["web.fetch", { url: `${url}root` }]),
            answers("done"),
            makes(["web.fetch", { url: `${url}resumed` }]),
            answers("done"),
          ],
          scout: [
            makes(["web.fetch", { url: `${url}before` }]),
            makes(["fs.read", { path: "customers/a.txt" }]),
            makes(["web.fetch", { url: `${url}after` }]),
            answers("Seen."),
          ],
        },
        { settings: allowing() },
      );
      await rig.send("go");
      const [child] = rig.children();
      expect(rig.ofSession(child, "ToolResult").map(({ outcome }) => outcome)).toEqual(["ok", "ok", "denied"]);
      expect(
        rig
          .of("ToolResult")
          .map(({ outcome }) => outcome)
          .at(-1),
      ).toBe("denied");
      await rig.submit({ kind: "EndSession" });
      const { session } = await rig.client.submit({ kind: "CreateSession", resume: rig.session });
      const content = [{ type: "text" as const, text: "again" }];
      await (await rig.client.submit({ kind: "SendInput", session: session!, content })).done;
      const late = rig.of("ToolResult").at(-1);
      expect([late?.outcome, textOf(late)]).toEqual(["denied", expect.stringContaining("the call may send data out")]);
    },
  );

  test.runIf(hasSandbox)("a connection that a command made brings foreign content, whatever made it", async () => {
    const url = await page();
    const { hostname } = new URL(url);
    const asks = `GET ${url} HTTP/1.1\\r\\nHost: ${hostname}\\r\\nConnection: close\\r\\n\\r\\n`;
    const script = `const {hostname, port} = new URL(process.env.HTTP_PROXY); require("net").connect(+port, hostname).end("${asks}").pipe(process.stdout)`;
    const rig = await createHarnessRig(
      [
        calls(["exec", { command: `node -e '${script}'` }]),
        calls(["fs_read", { path: "notes.txt" }]),
        calls(["web_fetch", { url }]),
        says("1"),
        calls(["web_fetch", { url }]),
        says("2"),
      ],
      {
        settings: {
          permissions: ["Bash", "WebFetch"].map((rule) => ({ effect: "allow" as const, rule, source: "test" })),
          network: { allowedDomains: [hostname] },
        },
        prepare: (workspace) => void workspace.put("notes.txt", SECRET),
      },
    );
    await rig.send();
    expect(rig.of("NetworkConnection").map(({ state }) => state)).toContain("opened");
    expect(outcomes(rig)).toEqual(["ok", "ok", "denied"]);
    expect(rig.of("TurnEnded").map(({ labels }) => labels)).toEqual([["private", "untrusted"]]);
    await rig.submit({ kind: "EndSession" });
    const { session } = await rig.client.submit({ kind: "CreateSession", resume: rig.session });
    const content = [{ type: "text" as const, text: "again" }];
    await (await rig.client.submit({ kind: "SendInput", session: session!, content })).done;
    expect(outcomes(rig).at(-1)).toBe("denied");
  });
});
