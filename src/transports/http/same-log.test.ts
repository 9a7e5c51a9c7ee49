/** The same scenario over each wire of this transport, and in this process, leaves the same log. */
import { expect, test } from "vitest";
import type { Event } from "#protocol";
import { calls, says } from "../../../test/fakes/harness-rig.ts";
import { createHttpRig, type HttpRig, isKind, textInput } from "../../../test/fakes/http-rig.ts";

type Drive = (rig: HttpRig) => Promise<void>;

const wires: Readonly<Record<string, Drive>> = {
  "in process": async (rig) => {
    await rig.send("write it");
    await rig.send("thanks");
  },
  rest: async (rig) => {
    await rig.shakeHands();
    await rig.ask("POST", rig.path("/input?wait=turn"), { body: textInput("write it") });
    await rig.ask("POST", rig.path("/input?wait=turn"), { body: textInput("thanks") });
  },
  "rest with a stream": async (rig) => {
    await rig.shakeHands();
    const stream = await rig.read(rig.path("/events?since=0"));
    await rig.ask("POST", rig.path("/input"), { body: textInput("write it") });
    const first = await stream.until(isKind("TurnEnded"));
    await rig.ask("POST", rig.path("/input"), { body: textInput("thanks") });
    await stream.until((event) => event.kind === "TurnEnded" && event.id > first.id);
  },
  ws: async (rig) => {
    const socket = await rig.openSocket(`/v1/ws?session=${rig.session}`);
    socket.send({ frame: "handshake", body: {} });
    const ended = () => socket.frames.filter(({ body }) => body.kind === "TurnEnded").length;
    for (const [index, text] of ["write it", "thanks"].entries()) {
      socket.send({ frame: "command", body: { kind: "SendInput", session: rig.session, ...textInput(text) } });
      await socket.until(() => ended() === index + 1);
    }
  },
  "the small surface": async (rig) => {
    const stream = await rig.read(`/events?session=${rig.session}`);
    const idle = () => stream.events.filter((event) => Reflect.get(event, "state") === "idle").length;
    for (const [index, content] of ["write it", "thanks"].entries()) {
      await rig.ask("POST", `/prompt?session=${rig.session}`, { body: { content } });
      await stream.until(() => idle() === index + 1);
    }
  },
};

test("the log is the same, whichever way the inputs came", async () => {
  const logs: Record<string, unknown> = {};
  for (const [name, drive] of Object.entries(wires)) {
    const replies = [
      calls(["fs.write", { path: "a.txt", content: "x" }], ["fs.list", {}]),
      says("Done."),
      says("Welcome."),
    ];
    const rig = await createHttpRig(replies, { autoApprove: true });
    await drive(rig);
    logs[name] = (await rig.harness.store.read(rig.session, { after: 0, limit: 1000 })).map(comparable);
  }
  const [expected, ...others] = Object.values(logs);
  expect(expected).not.toEqual([]);
  for (const log of others) expect(log).toEqual(expected);
});

/** Without what is different in every run: ids, times, hashes of them. */
function comparable({ id, kind, payload }: Event): unknown {
  if (kind === "TurnTiming") return { id, kind };
  const text = JSON.stringify({ id, kind, payload })
    .replace(/\b(sess|turn|call|cli|appr)_[0-9A-Z]{26}\b/g, "$1")
    .replace(
      /"(duration_ms|expires_at|bound_to|policy_version|working_dir|session_total)":("[^"]*"|[\d.]+|\{[^}]*\})/g,
      '"$1":0',
    )
    .replace(/\/tmp\/[^"\s]*/g, "/tmp");
  return JSON.parse(text) as unknown;
}
