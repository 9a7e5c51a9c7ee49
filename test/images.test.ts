/** Images in an input: by flag, over the small surface and from the library. */
import { describe, expect, onTestFinished, test } from "vitest";
import { createHarness } from "../src/embed.ts";
import { createHarnessRig, says } from "./fakes/harness-rig.ts";
import { createHttpRig } from "./fakes/http-rig.ts";
import { createInProcessCli } from "./fakes/in-process-cli.ts";
import { startMockProvider } from "./fakes/mock-provider-server.ts";

const DATA = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const IMAGE = { type: "image", media_type: "image/png", data: DATA } as const;
const SAYS = "name: s\nrules: []\notherwise: [{ text: said }]\n";
const RUN = ["run", "-m", "scripted:./s.yaml", "--store", "memory", "--no-project"];

test("--image puts images before the prompt, and refuses what is none", async () => {
  const cli = createInProcessCli();
  cli.put("s.yaml", SAYS);
  cli.put("pixel.png", Buffer.from(DATA, "base64"));
  cli.put("text.png", "not an image");
  const { code, out } = await cli.run(...RUN, "--json", "--image", "pixel.png", "--image", "pixel.png", "what is it?");
  expect(code).toBe(0);
  const started = out.split("\n").find((line) => line.includes('"TurnStarted"')) ?? "";
  expect(JSON.parse(started).payload.content).toEqual([IMAGE, IMAGE, { type: "text", text: "what is it?" }]);
  expect((await cli.run(...RUN, "--image", "text.png", "x")).err).toContain("not a PNG, JPEG, GIF or WebP image");
  const missing = await cli.run(...RUN, "--image", "none.png", "x");
  expect(missing).toMatchObject({ code: 2, err: "✗ UsageInvalid: --image none.png: there is no such file\n" });
});

test("/prompt takes content blocks, and refuses one that is too large", async () => {
  const rig = await createHttpRig([says("a pixel")]);
  expect(await rig.ask("POST", "/prompt", { body: { content: [IMAGE, { text: "what is it?" }] } })).toMatchObject({
    status: 202,
  });
  await expect.poll(() => JSON.stringify(rig.vendor.requests)).toContain(DATA);
  const large = { ...IMAGE, data: "A".repeat(7_000_000) };
  const refused = await rig.ask("POST", "/prompt", { body: { content: [large] } });
  expect(refused.status).toBeGreaterThanOrEqual(400);
});

test("prompt() of the library takes content blocks", async () => {
  const vendor = await startMockProvider();
  vendor.reply(says("a pixel"));
  const harness = await createHarness({ model: "anthropic:mock", apiKey: "k", baseUrl: vendor.url, env: {} });
  onTestFinished(async () => {
    await harness.close();
    await vendor.close();
  });
  expect(await harness.prompt([IMAGE, { type: "text", text: "what is it?" }])).toMatchObject({ text: "a pixel" });
  expect(JSON.stringify(vendor.requests)).toContain(DATA);
});

test("an image for a model that reads none is refused before anything is stored", async () => {
  const rig = await createHarnessRig([], {
    model: "zai:glm-5.3",
    extraEnv: { ZAI_API_KEY: "k" },
  });
  const content = [IMAGE, { type: "text" as const, text: "what is it?" }];
  for (const kind of ["SendInput", "QueueInput"] as const) {
    await expect(rig.submit({ kind, content })).rejects.toMatchObject({
      reason: "ImagesUnsupported",
      message: expect.stringContaining("zai:glm-5.3 cannot read images"),
    });
  }
  expect(rig.of("TurnStarted")).toEqual([]);
});

describe("a model that refuses images", () => {
  const refusal = {
    type: "http",
    status: 404,
    body: '{"error":{"message":"No endpoints found that support image input"}}',
  } as const;
  const content = [IMAGE, { type: "text" as const, text: "what is it?" }];

  test("ends the turn with the reason, and is known from then on", async () => {
    const rig = await createHarnessRig([refusal, says("I go on.")]);
    const { done } = await rig.submit({ kind: "SendInput", content });
    await done;
    expect(rig.of("TurnEnded")).toMatchObject([{ reason: "ImagesUnsupported" }]);
    await expect(rig.submit({ kind: "SendInput", content })).rejects.toMatchObject({ reason: "ImagesUnsupported" });
    await rig.send("never mind");
    expect(rig.of("TurnEnded").at(-1)).toMatchObject({ outcome: "answered" });
    expect(JSON.stringify(rig.vendor.requests.at(-1)?.body)).toContain("[an image that this model cannot read]");
    expect(JSON.stringify(rig.vendor.requests.at(-1)?.body)).not.toContain(DATA);
  });
});
