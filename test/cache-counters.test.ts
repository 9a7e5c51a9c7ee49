/** What all caches of a program hold together, as `GET /v1/health` says it. */
import { expect, test } from "vitest";
import { calls, says } from "./fakes/harness-rig.ts";
import { createHttpRig } from "./fakes/http-rig.ts";

test("the health of a server shows one budget and what each cache has of it", async () => {
  const rig = await createHttpRig([calls(["exec", { command: "ls" }]), says("one")]);
  await rig.send();
  const { json } = await rig.ask("GET", "/v1/health");
  const { caches } = json.subsystems ?? json;
  expect(caches).toMatchObject({
    state: "ok",
    max_bytes: 33_554_432,
    each: {
      "redacted texts": { max_bytes: 16_777_216, hits: expect.any(Number), evictions: 0 },
      "shell commands": { hits: expect.any(Number), misses: expect.any(Number) },
    },
  });
  const { bytes, each } = caches as { bytes: number; each: Record<string, { bytes: number; entries: number }> };
  expect(bytes).toBe(Object.values(each).reduce((sum, one) => sum + one.bytes, 0));
  expect(each["redacted texts"]?.entries).toBeGreaterThan(0);
});
