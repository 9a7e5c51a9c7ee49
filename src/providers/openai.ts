/** The OpenAI chat completions wire family. */
import { openaiBody } from "./openai-request.ts";
import { openaiReader } from "./openai-stream.ts";
import type { WireFamily } from "./wire-family.ts";

export const openaiFamily: WireFamily = { name: "openai", body: openaiBody, headers: () => ({}), reader: openaiReader };
