/** The pages of the guide, followed word by word in a real shell with the real program. */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { expect, test } from "vitest";
import { followGuide } from "../fakes/guide.ts";
import { startLoopbackServer } from "../fakes/loopback-server.ts";

const root = resolve(import.meta.dirname, "../..");

/** Many starts of the program each; on a busy machine that takes its time. */
const TIMEOUT_MS = 180_000;

/** The files of a folder with their texts. */
function contents(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    files.map(({ parentPath, name }) => {
      const file = join(parentPath, name);
      return [relative(folder, file), readFileSync(file, "utf8")];
    }),
  );
}

function example(name: string): Record<string, string> {
  return contents(join(root, "examples", name));
}

test("quickstart.md ends in examples/quickstart", { timeout: TIMEOUT_MS }, async () => {
  const { folder, commands } = await followGuide("docs/guide/quickstart.md");
  expect(commands).toBeGreaterThan(7);
  expect(contents(folder)).toEqual(example("quickstart"));
});

test("first-governed-agent.md ends in examples/reporter", { timeout: TIMEOUT_MS }, async () => {
  const { port } = await startLoopbackServer((_request, response) => response.end("Teapots are back in stock.\n"));
  const here = { "localhost:8000": `localhost:${port}` };
  const { folder, commands } = await followGuide("docs/guide/first-governed-agent.md", { here });
  expect(commands).toBeGreaterThan(10);
  expect(contents(folder)).toEqual(example("reporter"));
});

test("governed-agent.md, in a copy of examples/governed-agent", { timeout: TIMEOUT_MS }, async () => {
  const { port } = await startLoopbackServer((_request, response) => response.end("Keep it simple.\n"));
  const here = { "localhost:8000": `localhost:${port}` };
  const { folder, commands } = await followGuide("docs/guide/governed-agent.md", {
    from: "examples/governed-agent",
    here,
  });
  expect(commands).toBeGreaterThan(10);
  expect(contents(folder)).toEqual(example("governed-agent"));
});

test.each([
  "writing-a-tool",
  "writing-a-hook",
  "writing-context",
  "writing-a-policy",
  "policy-backtest",
  "network",
  "replay",
  "redaction",
  "ci",
  "sub-agents",
  "verification",
  "evals",
  "pipe-and-tokens",
])("%s.md", { timeout: TIMEOUT_MS }, async (name) => {
  const { port } = await startLoopbackServer((_request, response) => response.end("pong\n"));
  const { commands } = await followGuide(`docs/guide/${name}.md`, {
    here: { "localhost:8000": `localhost:${port}` },
  });
  expect(commands).toBeGreaterThan(4);
});

test("conformance.md", { timeout: TIMEOUT_MS }, async () => {
  const { commands } = await followGuide("docs/guide/conformance.md");
  expect(commands).toBeGreaterThan(9);
});

test("client.md", { timeout: TIMEOUT_MS }, async () => {
  // The package of this repository stands for the one that would be installed.
  const install = `mkdir node_modules && ln -s '${root}' node_modules/harness-runtime`;
  const { commands } = await followGuide("docs/guide/client.md", { here: { "npm install harness-runtime": install } });
  expect(commands).toBeGreaterThan(10);
});

test("daemon.md", { timeout: TIMEOUT_MS }, async () => {
  const { commands } = await followGuide("docs/guide/daemon.md");
  expect(commands).toBeGreaterThan(15);
});

test("control-plane.md", { timeout: TIMEOUT_MS }, async () => {
  const { commands } = await followGuide("docs/guide/control-plane.md");
  expect(commands).toBeGreaterThan(15);
});
