/** One daemon for many folders: what the project of a folder says holds for sessions there, wherever the daemon was started. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ackProject } from "../fakes/ack-project.ts";
import { createDaemonHome, textBody } from "../fakes/daemon-home.ts";
import { hasSandbox } from "../fakes/test-sandbox.ts";

const MODEL = [
  "name: of-the-project",
  "rules:",
  "  - when: { step: 1 }",
  "    reply: [{ tool: exec, args: { command: make } }]",
  "otherwise: [{ text: 'from the project' }]",
].join("\n");

test("a session that names no folder works in a scratch folder of its own, and none works in the home", async () => {
  const home = createDaemonHome();
  await home.start();
  await home.ask("GET", "/v1/handshake");
  const { json: made } = await home.ask("POST", "/v1/sessions", {});
  expect(made.working_dir).toBe(join(home.env.XDG_CACHE_HOME ?? "", "harness/scratch", made.id));
  const refused = await home.ask("POST", "/v1/sessions", { working_dir: home.env.HOME });
  expect(refused).toMatchObject({ status: 400, json: { error: { reason: "ConfigInvalid" } } });
});

test.runIf(hasSandbox)(
  "the model and the sandbox of a project hold in a daemon that was started elsewhere",
  async () => {
    const home = createDaemonHome();
    const scenario = home.put("model.yaml", MODEL);
    const project = join(home.workspace, "..", "project");
    mkdirSync(project);
    writeFileSync(join(project, "harness.md"), `---\nmodel: scripted:${scenario}\nsandbox: required\n---\nBe brief.\n`);
    await ackProject({ workspace: project, env: home.env as Record<string, string> });
    await home.start("--sandbox", "off", "--allow", "Bash(make)");
    await home.ask("GET", "/v1/handshake");

    const { json: there } = await home.ask("POST", "/v1/sessions", { working_dir: project });
    expect(there).toMatchObject({ model: `scripted:${scenario}` });
    const turn = await home.ask("POST", `/v1/sessions/${there.id}/input?wait=turn`, textBody("go"));
    expect(turn.json).toMatchObject({ outcome: "answered", answer: "from the project" });
    const { json: log } = await home.ask("GET", `/v1/sessions/${there.id}/log`);
    expect(log.events).toContainEqual(
      expect.objectContaining({ kind: "SandboxStatus", payload: expect.objectContaining({ mode: "required" }) }),
    );

    const { json: elsewhere } = await home.ask("POST", "/v1/sessions", { working_dir: home.workspace });
    expect(elsewhere).toMatchObject({ model: "scripted:offline" });
  },
);
