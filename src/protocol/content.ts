/** Content blocks and messages in the canonical form that the log, the engine and every provider adapter share. */
import { z } from "zod";
import { CallId } from "./ids.ts";
import { imageTypes } from "./image-type.ts";
import { idSchema, wire } from "./wire.ts";

export const CANONICAL_FORM_VERSION = 1;

/** 5 MiB as base64: what every vendor takes. */
const MAX_IMAGE_CHARS = Math.ceil((5 * 1024 * 1024) / 3) * 4;

const text = wire({ type: z.literal("text"), text: z.string() });

const image = wire({
  type: z.literal("image"),
  media_type: z.enum(imageTypes),
  data: z
    .base64()
    .max(MAX_IMAGE_CHARS)
    .describe("The image bytes, base64: at most 5 MiB. They begin as an image of this type does."),
});

const file = wire({
  type: z.literal("file"),
  name: z.string().describe("For the model and for people: at most 255 characters, no folders, nothing hidden."),
  text: z
    .string()
    .describe(
      "Its content, UTF-8 text: at most 400,000 characters in all files of an input. The model reads it as untrusted data.",
    ),
}).describe("A file of the client, which need not be in the workspace. Feature: input_files.");

const toolUse = wire({
  type: z.literal("tool_use"),
  id: idSchema(CallId),
  name: z.string().describe("Canonical tool name, for example fs.read."),
  input: z.unknown().describe("The arguments as the model wrote them; an object once validated."),
});

const toolResult = wire({
  type: z.literal("tool_result"),
  tool_use_id: idSchema(CallId),
  content: z.array(z.discriminatedUnion("type", [text, image])),
  is_error: z.boolean(),
  refused: z.boolean().optional().describe("The call did not run. The content says why and comes from Harness."),
});

const thinking = wire({
  type: z.literal("thinking"),
  provider: z.string().describe("The wire family that produced the block; Harness sends it back only to that family."),
  data: z.unknown().describe("Opaque to everybody else; echoed verbatim, signature included."),
});

const yielded = wire({
  type: z.literal("yield"),
  reason: z.string().optional().describe("Why the model handed the turn back."),
});

/** Every kind of block, by its `type`. */
export const contentBlocks = {
  text,
  image,
  file,
  tool_use: toolUse,
  tool_result: toolResult,
  thinking,
  yield: yielded,
};

export const contentBlock = z.discriminatedUnion("type", [text, image, file, toolUse, toolResult, thinking, yielded]);

/** What a client may send: text, images and files. A block with `text` and no `type` counts as text. */
export const inputBlock = z.preprocess(
  (value) => (isUntypedText(value) ? { ...value, type: "text" } : value),
  z.discriminatedUnion("type", [text, image, file]),
);

/** One message of a conversation, for edges that get one from elsewhere. */
export const message = z.discriminatedUnion("role", [
  wire({ role: z.literal("user"), content: z.array(z.discriminatedUnion("type", [text, image, toolResult])) }),
  wire({
    role: z.literal("assistant"),
    content: z.array(z.discriminatedUnion("type", [text, thinking, toolUse, yielded])),
  }),
]);

export const toolOutputBlock = z.discriminatedUnion("type", [text, image]);

export type TextBlock = z.infer<typeof text>;
export type ImageBlock = z.infer<typeof image>;
export type FileBlock = z.infer<typeof file>;
export type ToolUseBlock = z.infer<typeof toolUse>;
export type ToolResultBlock = z.infer<typeof toolResult>;
export type ThinkingBlock = z.infer<typeof thinking>;
export type YieldBlock = z.infer<typeof yielded>;
export type ContentBlock = z.infer<typeof contentBlock>;
export type InputBlock = TextBlock | ImageBlock | FileBlock;
/** Text from outside in the place of an input; the model reads it between delimiters. No client can send one. */
export type ContextBlock = TextBlock & { readonly from: string };
export type ToolOutputBlock = TextBlock | ImageBlock;

export type Message =
  | { readonly role: "user"; readonly content: readonly (TextBlock | ImageBlock | ToolResultBlock)[] }
  | {
      readonly role: "assistant";
      readonly content: readonly (TextBlock | ThinkingBlock | ToolUseBlock | YieldBlock)[];
    };

function isUntypedText(value: unknown): value is { text: string } {
  return typeof value === "object" && value !== null && "text" in value && !("type" in value);
}
