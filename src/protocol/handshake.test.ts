import { expect, it } from "vitest";
import { commands } from "./commands.ts";
import { events } from "./events.ts";
import { buildHandshake, handshakeSchema } from "./handshake.ts";

it("lists exactly what the tables have, and the features it was given", () => {
  const features = ["ask_user"];
  const handshake = buildHandshake(features);
  expect(handshake).toEqual({
    protocol_version: "0.1.0",
    canonical_form_version: 1,
    schema_version_token_claim: 1,
    schema_version_profile: 1,
    schema_version_session_log: 1,
    command_kinds: Object.keys(commands),
    event_kinds: Object.keys(events),
    features: ["ask_user"],
    resource_uri_scheme: "harness/v1",
  });
  expect(handshakeSchema.parse(handshake)).toEqual(handshake);
  expect(handshake.features).not.toBe(features);
});
