/** An input that waited when the daemon was killed or stopped runs when the next one is there; nobody opens its session. */
import { expect, test } from "vitest";
import { createDaemonHome, type DaemonHome, textBody } from "../fakes/daemon-home.ts";

const SCENARIO = `
name: queue
rules:
  - when: { input: "/later/" }
    reply: [{ text: "This came from the queue." }]
  - when: { input: "/touch/" }
    reply: [{ tool: exec, args: { command: "touch made.txt" } }]
otherwise: [{ text: "Nothing to do." }]
`;

/** A turn that waits for a person, with an input behind it. */
async function waitingSession(home: DaemonHome): Promise<string> {
  await home.ask("GET", "/v1/handshake");
  const { id } = (await home.ask("POST", "/v1/sessions", { working_dir: home.workspace })).json;
  await home.ask("POST", `/v1/sessions/${id}/input`, textBody("touch it"));
  for (let activity = ""; activity !== "waiting"; ) {
    activity = (await home.ask("GET", `/v1/sessions/${id}`)).json.activity ?? "";
  }
  expect((await home.ask("POST", `/v1/sessions/${id}/input?mode=queue`, textBody("later"))).status).toBe(202);
  return id;
}

async function answers(home: DaemonHome, id: string): Promise<string> {
  const { events } = (await home.ask("GET", `/v1/sessions/${id}/log?limit=1000`)).json as {
    events: { kind: string; payload: { text?: string } }[];
  };
  return events.flatMap(({ kind, payload }) => (kind === "TextDelta" ? [payload.text] : [])).join("");
}

test.each([
  ["killed", async (_home: DaemonHome, pid: number) => void process.kill(pid, "SIGKILL")],
  ["stopped", (home: DaemonHome) => home.daemon("stop")],
])("of a daemon that was %s", async (_how, end) => {
  const home = createDaemonHome();
  home.put("scenario.yaml", SCENARIO);
  const flags = ["-m", "scripted:./scenario.yaml", "--sandbox", "off"];
  const pid = await home.start(...flags);
  const id = await waitingSession(home);
  await end(home, pid);
  expect(await home.start(...flags)).not.toBe(pid);
  await home.ask("GET", "/v1/handshake");
  while ((await answers(home, id)) === "") await new Promise((next) => setTimeout(next, 50));
  expect(await answers(home, id)).toBe("This came from the queue.");
  expect(home.logged()).toContainEqual(
    expect.objectContaining({ msg: "opened for queued inputs", session: id, inputs: 1 }),
  );
  expect((await home.status()).health.subsystems.retention).toEqual({ state: "not run" });
});
