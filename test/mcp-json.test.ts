/** A repository's `.mcp.json`, as other agents write it, and the packages that its servers are. */
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { ackProject } from "./fakes/ack-project.ts";
import { callCli } from "./fakes/cli-call.ts";
import { type CliHome, createCliHome, offlineModel } from "./fakes/cli-process.ts";
import { serveOnLoopback } from "./fakes/http-mcp-server.ts";
import { hasSandbox } from "./fakes/test-sandbox.ts";
import { TINY_SERVER } from "./fakes/tiny-mcp-server.ts";

let home: CliHome;
beforeEach(() => {
  home = createCliHome({ ...offlineModel, XDG_STATE_HOME: "", TINY_LOGIN: "tiny-login-58b1" });
});

/** `$(NAME)` stands for a variable here. */
const braces = (text: string): string => text.replaceAll(/\$\(([^)]*)\)/g, "$${$1}");
const list = (servers: unknown): string => home.put(".mcp.json", braces(JSON.stringify({ mcpServers: servers })));
const run = () => callCli(home, ["run", "--store", "memory", "Hello"]);
const approve = (...keys: string[]) => callCli(home, ["mcp", "approve", "tiny"], "", keys);
const listed = async () => JSON.parse((await callCli(home, ["mcp", "list", "--json"])).out);
const tiny = { command: "node", args: ["server.js"] };

describe("the file", () => {
  test("needs an answer of its own; one that is denied is left out", async () => {
    home.put("server.js", TINY_SERVER);
    list({ tiny });
    expect(await run()).toMatchObject({ code: 2, err: expect.stringContaining(".mcp.json") });
    const asked = await callCli(home, ["ack"], "", ["d"]);
    expect(asked.err).toContain("list of MCP servers: programs and addresses");
    const { code, err } = await run();
    expect([code, err.includes("tiny")]).toEqual([0, false]);
  });

  test("is used unchanged: types, variables with defaults, capital letters, unknown keys", async () => {
    home.put("server.js", TINY_SERVER);
    list({
      Tiny: {
        type: "stdio",
        command: "node",
        args: ["$(DIR:-.)/server.js"],
        env: { LOGIN: "$(TINY_LOGIN)" },
        alwaysLoad: true,
      },
      docs: { type: "http", url: "https://$(DOCS_HOST:-docs.example)/mcp", headers: { "X-Key": "$(TINY_LOGIN)" } },
      old: { type: "sse", url: "https://old.example/sse" },
    });
    await ackProject(home);
    const shown = await approve("a", "n", "n");
    expect(shown).toMatchObject({ code: 0 });
    expect(shown.err).toContain(braces('"LOGIN": "$(TINY_LOGIN)"'));
    expect(shown.err).toContain("gets these variables of your environment: DIR, TINY_LOGIN");
    expect(shown.err).not.toContain("tiny-login-58b1");
    await callCli(home, ["mcp", "approve", "docs"], "", ["a"]);
    await callCli(home, ["mcp", "approve", "old"], "", ["a"]);
    expect(await listed()).toMatchObject([
      { name: "tiny", connection: { args: ["./server.js"] } },
      { name: "docs", connection: { kind: "http", url: "https://docs.example/mcp" } },
      { name: "old", connection: { kind: "sse" } },
    ]);
    const { err } = await run();
    expect(err).toContain('mcpServers.Tiny: MCP server: the key "alwaysLoad" is unknown and has no effect.');
  });

  test.each([
    ["not JSON", "{", "The file does not list MCP servers."],
    ["JSON of another kind", '{"servers":{}}', "The file does not list MCP servers."],
    ["a list", "[]", "The file does not list MCP servers."],
    ["10 MB", `{"mcpServers":{"a":{"command":"${"x".repeat(10_000_000)}"}}}`, "The file has 100000"],
    [
      "deeper than anything",
      `{"mcpServers":{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}}`,
      "not an object of up to 16",
    ],
    [
      "an entry that holds itself in many levels",
      `{"mcpServers":{"a":{"command":"x","env":${'{"a":'.repeat(40)}1${"}".repeat(40)}}}}`,
      "not an object of up to 16",
    ],
    ["a name with a blank", '{"mcpServers":{"a b":{"command":"x"}}}', "mcpServers.a b: this name cannot be used."],
    ["a reserved name", '{"mcpServers":{"Restart":{"command":"x"}}}', "mcpServers.Restart: this name cannot be used."],
    [
      "a name of the prototype",
      '{"mcpServers":{"__proto__":{"command":"x"}}}',
      "mcpServers.__proto__: this name cannot be used.",
    ],
    [
      "the same name twice",
      '{"mcpServers":{"A":{"command":"x"},"a":{"command":"y"}}}',
      "another server has the same name",
    ],
    ["an unknown type", '{"mcpServers":{"a":{"type":"ws","url":"wss://x"}}}', 'the type "ws" is not supported'],
    ["neither command nor url", '{"mcpServers":{"a":{"args":[]}}}', "`command` or `url`"],
    ["numbers for texts", '{"mcpServers":{"a":{"command":7}}}', "mcpServers.a:"],
    [
      "keys of the user",
      '{"mcpServers":{"a":{"command":"x","sandbox":"off","paths":["/"]}}}',
      'the key "sandbox" is unknown',
    ],
  ])("with %s stops nothing", async (_, text, told) => {
    home.put(".mcp.json", text);
    await ackProject(home);
    const { code, err } = await run();
    expect(err).toContain(told);
    expect(code).toBe(0);
  });

  test("does not get a variable that is not set, nor one that is the program's own", async () => {
    list({ tiny: { ...tiny, env: { A: "$(NOT_SET_HERE)" } } });
    await ackProject(home);
    expect((await run()).err).toContain("is not used: the variable NOT_SET_HERE is not set.");
    list({ tiny: { ...tiny, env: { A: "$(OPENAI_API_KEY:-none)" } } });
    await ackProject(home);
    expect((await run()).err).toContain("it asks for the variable OPENAI_API_KEY, which belongs to Harness.");
  });

  test("cannot lead elsewhere by a variable after its approval", async () => {
    list({ tiny: { url: "https://$(DOCS_HOST:-docs.example)/mcp" } });
    await ackProject(home);
    await approve("a");
    expect(await listed()).toHaveLength(1);
    const moved = { ...home, env: { ...home.env, DOCS_HOST: "evil.example" } };
    expect((await callCli(moved, ["mcp", "list"])).err).toContain("its entry changed since you answered");
  });

  test("reaches no address before it is approved", async () => {
    const { origin, seen } = await serveOnLoopback((_request, response) => void response.end("{}"));
    list({ tiny: { type: "http", url: `${origin}/mcp` } });
    await ackProject(home);
    await run();
    await callCli(home, ["mcp", "test"]);
    await callCli(home, ["tools"]);
    await approve("d");
    await run();
    expect(seen).toEqual([]);
  });
});

describe("a package", () => {
  /** A stand-in for `npm` or `uv` on the search path: it notes its arguments and makes the files that the real one would. */
  function installer(name: string, script: string): void {
    const folder = join(home.workspace, "../bin");
    const file = join(folder, name);
    home.put(`../bin/${name}`, `#!/bin/sh\necho "$0 $*" >> ${folder}/calls\n${script}`);
    chmodSync(file, 0o755);
    Object.assign(home.env, { PATH: `${folder}:${home.env.PATH}` });
  }
  const calls = (): string => {
    const file = join(home.workspace, "../bin/calls");
    return existsSync(file) ? readFileSync(file, "utf8") : "";
  };

  const NPM = `
mkdir -p node_modules/tiny-server
echo '{"dependencies":{"tiny-server":"1.2.3"}}' > package.json
echo '{"name":"tiny-server","version":"1.2.3","bin":"index.js"}' > node_modules/tiny-server/package.json
echo '{"packages":{"node_modules/tiny-server":{"integrity":"sha512-abc"}}}' > package-lock.json
cat > node_modules/tiny-server/index.js <<'END'
${TINY_SERVER}
END
`;

  test("of npx is installed between two questions, shown with version and integrity, and started from there", async () => {
    installer("npm", NPM);
    list({ tiny: { command: "npx", args: ["-y", "tiny-server", "--fast"] } });
    await ackProject(home);
    expect((await run()).err).toContain("it needs your approval");
    expect(await approve("q")).toMatchObject({
      code: 1,
      err: expect.stringContaining("tiny-server, not installed yet"),
    });
    expect(calls()).toBe("");
    expect(await approve("a", "d")).toMatchObject({ code: 1 });
    const packages = join(String(home.env.XDG_DATA_HOME), "harness/mcp-packages");
    expect(readdirSync(packages)).toEqual([]);
    const { code, err } = await approve("a", "a", "n", "n");
    expect(code).toBe(0);
    expect(err).toContain("package tiny-server@1.2.3 sha512-abc");
    expect(calls()).toContain("install --ignore-scripts --save-exact");
    const [{ connection }] = await listed();
    expect([connection.command, connection.args[1]]).toEqual([process.execPath, "--fast"]);
    if (hasSandbox) {
      expect(await callCli(home, ["mcp", "test"])).toMatchObject({ code: 0, out: expect.stringContaining("✓ tiny") });
    }
    const lock = join(packages, readdirSync(packages)[0] ?? "", "package-lock.json");
    writeFileSync(lock, `${readFileSync(lock, "utf8")} `);
    const changed = await callCli(home, ["mcp", "test"]);
    expect(changed).toMatchObject({
      code: 1,
      out: expect.stringMatching(/the binary at \S+\/package-lock\.json changed/),
    });
    const again = await approve("a", "a", "k");
    expect(again.err).toContain("before tiny-server@1.2.3 sha512-abc");
    expect(readdirSync(packages)).toHaveLength(1);
  });

  test("of uvx is resolved to hashes and installed by uv, from wheels alone", async () => {
    installer(
      "uv",
      `case "$1 $2" in
"pip compile") printf 'tiny-server==1.2.3 \\\\\\n    --hash=sha256:abc\\n' > requirements.txt ;;
"venv "*) mkdir -p venv/bin && cp /bin/sh venv/bin/python ;;
"pip install") cp /bin/true venv/bin/tiny-server ;;
esac
`,
    );
    list({ tiny: { command: "uvx", args: ["tiny-server@1.2.3", "--fast"] } });
    await ackProject(home);
    const { code, err } = await approve("a", "a", "n", "n");
    expect(code).toBe(0);
    expect(err).toContain("package tiny-server@1.2.3 sha256:abc");
    expect(calls()).toContain("pip compile --generate-hashes --only-binary :all: ");
    expect(calls()).toMatch(/pip install --python \S+ --require-hashes --only-binary :all: -r \S+requirements\.txt/);
    const [{ connection }] = await listed();
    expect(connection).toMatchObject({ command: expect.stringMatching(/venv\/bin\/tiny-server$/), args: ["--fast"] });
  });
});
