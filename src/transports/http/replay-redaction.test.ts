/** What is read back from the log leaves without the secrets of today, on every way that it can take. */
import { expect, test } from "vitest";
import { says } from "../../../test/fakes/harness-rig.ts";
import { createHttpRig, isKind } from "../../../test/fakes/http-rig.ts";
import { noRedaction } from "../../../test/fakes/no-redaction.ts";

/** In the form of a GitHub token, put together here. */
const SECRET = `${"gh"}p_${"Zx8Qw2Er6Ty".repeat(4).slice(0, 36)}`;

test("a secret that was stored before anybody knew it is on no stream, in no page and in no title", async () => {
  // The log of a time when nothing knew this form.
  const rig = await createHttpRig([says(`It is ${SECRET}.`)], { redaction: async () => noRedaction });
  await rig.send(`My token is ${SECRET}`);
  await rig.harness.archive.update(rig.session, { title: `About ${SECRET}` });
  expect(JSON.stringify(await rig.harness.store.read(rig.session, { after: 0, limit: 100 }))).toContain(SECRET);
  await rig.shakeHands();

  const stream = await rig.read(rig.path("/events?since=0"));
  await stream.until(isKind("TurnEnded"));
  const plain = await rig.read(`/events?session=${rig.session}&since=0`);
  await plain.until((event) => Reflect.get(event, "state") === "idle");
  const socket = await rig.openSocket(`/v1/ws?session=${rig.session}&lastEventId=0`);
  socket.send({ frame: "handshake", body: {} });
  await socket.until(({ body }) => body.kind === "TurnEnded");
  const told = {
    sse: stream.events,
    plain: plain.events,
    socket: socket.frames,
    log: (await rig.ask("GET", rig.path("/log"))).json,
    session: (await rig.ask("GET", rig.path())).json,
    sessions: (await rig.ask("GET", "/v1/sessions")).json,
  };
  for (const [way, events] of Object.entries(told)) {
    expect({ way, hasSecret: JSON.stringify(events).includes(SECRET) }).toEqual({ way, hasSecret: false });
    expect(JSON.stringify(events)).toContain("«redacted:");
  }
});
