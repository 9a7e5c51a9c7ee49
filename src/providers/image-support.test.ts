import { expect, test } from "vitest";
import { callModel, testPorts, userRequest } from "../../test/fakes/call-model.ts";
import { startMockProvider } from "../../test/fakes/mock-provider-server.ts";
import type { Catalog } from "./catalog.ts";
import { createProvider } from "./create.ts";
import { createImageSupport } from "./image-support.ts";

const catalog = { models: async () => [], isTextOnly: () => false } as unknown as Catalog;
const refused = (message: string) => ({ reason: "ProviderRefused" as const, message });

test.each([
  "No endpoints found that support image input",
  "this model does not support image input (ref: b8bd)",
  "Invalid content type. image_url is only supported by certain models.",
  "messages[0]: unknown variant `image_url`, expected `text`",
  "Image input is not enabled for this model",
  "some/model is not a multimodal model",
  "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj",
  "Unsupported content part type for text-only server: image_url",
  "'claude-2.1' does not support image input.",
])("a refusal is learned: %s", (message) => {
  const images = createImageSupport({ name: "custom" }, catalog);
  expect(images.takes("m")).toBe(true);
  expect(images.learn("m", refused(message))).toBe(true);
  expect([images.takes("m"), images.takes("other")]).toEqual([false, true]);
});

test.each([
  "image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes",
  "Could not process image",
  "messages.0.content.0.image.source: media type image/tiff is not supported",
  "You uploaded an unsupported image. Please make sure your image has of one the following formats",
  "Image dimensions are not supported: larger than 8000 pixels",
  "tools are not supported by this model",
  "The model does not support tool use",
])("what is about this image or something else is not: %s", (message) => {
  expect(createImageSupport({ name: "custom" }, catalog).learn("m", refused(message))).toBe(false);
});

test("the list of a vendor that says so is asked before an image is sent", async () => {
  const models = { data: [{ id: "z/text", architecture: { input_modalities: ["text"] } }, { id: "z/none" }] };
  const mock = await startMockProvider({ models });
  mock.reply({ type: "message", blocks: [{ type: "text", text: "ok" }] });
  const env = { OPENROUTER_API_KEY: "k", OPENROUTER_BASE_URL: `${mock.url}/v1` };
  const provider = createProvider({ model: "openrouter:z/text" }, { ...testPorts(), env });
  const image = { type: "image", media_type: "image/png", data: "AAAA" } as const;
  const request = userRequest("openrouter:z/text", { messages: [{ role: "user", content: [image] }] });
  expect((await callModel(provider, request)).outcome).toMatchObject({ type: "failed", reason: "ImagesUnsupported" });
  expect(mock.requests.map(({ method, path }) => `${method} ${path}`)).toEqual(["GET /v1/models"]);
  expect((await callModel(provider, request)).outcome).toMatchObject({ type: "done" });
  expect([provider.takesImages?.("openrouter:z/text"), provider.takesImages?.("openrouter:z/none")]).toEqual([
    false,
    true,
  ]);
  await mock.close();
});

test("an image of a tool becomes a line of text once the model has refused it", async () => {
  const mock = await startMockProvider();
  const body = JSON.stringify({ error: { message: "this model does not support image input" } });
  mock.reply(
    { type: "http", status: 400, headers: {}, body },
    { type: "message", blocks: [{ type: "text", text: "ok" }] },
  );
  const provider = createProvider({ model: "openai:gpt-4o", baseUrl: `${mock.url}/v1` }, testPorts());
  const image = { type: "image", media_type: "image/png", data: "AAAA" } as const;
  const request = userRequest("openai:gpt-4o", {
    messages: [
      { role: "user", content: [{ type: "text", text: "look" }] },
      { role: "assistant", content: [{ type: "tool_use", id: "call_1" as never, name: "shot", input: {} }] },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "call_1" as never, content: [image], is_error: false }],
      },
    ],
  });
  expect((await callModel(provider, request)).outcome).toMatchObject({ type: "done" });
  expect(mock.requests.map(({ body }) => JSON.stringify(body).includes("AAAA"))).toEqual([true, false]);
  await mock.close();
});
