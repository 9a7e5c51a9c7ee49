/** The Anthropic Messages wire family. */
import { anthropicBody, anthropicHeaders } from "./anthropic-request.ts";
import { anthropicReader } from "./anthropic-stream.ts";
import type { WireFamily } from "./wire-family.ts";

export const anthropicFamily: WireFamily = {
  name: "anthropic",
  body: anthropicBody,
  headers: anthropicHeaders,
  reader: anthropicReader,
};
