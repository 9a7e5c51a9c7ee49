/** The pages of the guide, followed word by word in a real shell with the real program. */
import { execFileSync } from "node:child_process";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { followGuide } from "../fakes/guide.ts";
import { startLoopbackServer } from "../fakes/loopback-server.ts";

const root = resolve(import.meta.dirname, "../..");

/** Nothing when two folders hold the same. */
function difference(folder: string, example: string): string {
  return execFileSync("diff", ["-r", folder, join(root, "examples", example)], { encoding: "utf8" });
}

test("quickstart.md ends in examples/quickstart", async () => {
  const { folder, commands } = await followGuide("docs/guide/quickstart.md");
  expect(commands).toBeGreaterThan(7);
  expect(difference(folder, "quickstart")).toBe("");
});

test("first-governed-agent.md ends in examples/reporter", async () => {
  const { port } = await startLoopbackServer((_request, response) => response.end("Teapots are back in stock.\n"));
  const here = { "localhost:8000": `localhost:${port}` };
  const { folder, commands } = await followGuide("docs/guide/first-governed-agent.md", { here });
  expect(commands).toBeGreaterThan(10);
  expect(difference(folder, "reporter")).toBe("");
});

test("governed-agent.md, in a copy of examples/governed-agent", async () => {
  const { port } = await startLoopbackServer((_request, response) => response.end("Keep it simple.\n"));
  const here = { "localhost:8000": `localhost:${port}` };
  const { folder, commands } = await followGuide("docs/guide/governed-agent.md", {
    from: "examples/governed-agent",
    here,
  });
  expect(commands).toBeGreaterThan(10);
  expect(difference(folder, "governed-agent")).toBe("");
});

test.each(["writing-a-tool", "writing-a-hook", "writing-context", "writing-a-policy", "network"])(
  "%s.md",
  async (name) => {
    const { port } = await startLoopbackServer((_request, response) => response.end("pong\n"));
    const { commands } = await followGuide(`docs/guide/${name}.md`, {
      here: { "localhost:8000": `localhost:${port}` },
    });
    expect(commands).toBeGreaterThan(4);
  },
);
