/**
 * Whether models read images: by the facts, by the list of the vendor where that says it, and by what the vendor has refused. An input
 * with an image for a model that reads none is refused; other images, from tools or earlier models, become a line of text.
 */
import type { ModelRequest } from "#engine";
import type { Message } from "#protocol";
import type { Catalog } from "./catalog.ts";
import { type Failure, failure } from "./failure.ts";
import { readsNoImages } from "./model-facts.ts";
import type { Vendor } from "./vendors.ts";

const NOTE = { type: "text", text: "[an image that this model cannot read]" } as const;
/** What vendors and local servers say. */
const REFUSALS = [
  /(?:support|enabled|accept|allow)\w*[^.]{0,40}\b(?:image|vision|multi-?modal)/i,
  /\b(?:image|vision|multi-?modal)[^.]{0,40}(?:not|n't|only)\b[^.]{0,20}\b(?:support|enabled|accept|allow)/i,
  /unknown variant `?image|\bnot a multi-?modal|text-only (?:model|server)|\bmmproj\b/i,
];
/** A refusal of this one image, which another one would pass. */
const OF_THE_IMAGE =
  /\b(?:media.?type|mime|format|size|large|bytes|dimension|pixel|resolution|url|base64|decode|too many)/i;

export interface ImageSupport {
  /** By what is known; true when nothing is. */
  takes(name: string): boolean;
  /** The same once the vendor's list was looked at, where it says this. */
  find(name: string, signal: AbortSignal): Promise<boolean>;
  /** Whether the model was refused because of an image; from then on it is known. */
  learn(name: string, outcome: Pick<Failure, "reason" | "message">): boolean;
}

export function createImageSupport(vendor: Pick<Vendor, "name" | "listsModalities">, catalog: Catalog): ImageSupport {
  const refused = new Set<string>();
  const takes = (name: string): boolean =>
    !refused.has(name) && !readsNoImages(vendor.name, name) && !catalog.isTextOnly(name);
  return {
    takes,
    async find(name, signal) {
      // A list that cannot be had says nothing; the request itself will.
      if (vendor.listsModalities === true && takes(name)) await catalog.models(signal).catch(() => undefined);
      return takes(name);
    },
    learn(name, { reason, message }) {
      const isRefusal = reason === "ProviderRefused" || reason === "UnknownModel" || reason === "ProviderUnavailable";
      if (!isRefusal || !REFUSALS.some((shape) => shape.test(message)) || OF_THE_IMAGE.test(message)) return false;
      refused.add(name);
      return true;
    },
  };
}

export function imagesUnsupported({ model }: ModelRequest): Failure {
  return failure("ImagesUnsupported", false, { model });
}

/** `input`: the newest message of a person has one. `other`: something before it or the result of a call has one. */
export function imagesIn({ messages }: ModelRequest): "input" | "other" | "none" {
  const last = messages.at(-1);
  if (last?.role === "user" && last.content.some(({ type }) => type === "image")) return "input";
  return messages.some((message) => withNotes(message) !== message) ? "other" : "none";
}

export function withoutImages(request: ModelRequest): ModelRequest {
  return { ...request, messages: request.messages.map(withNotes) };
}

/** The same message where it has none. */
function withNotes(message: Message): Message {
  if (message.role === "assistant") return message;
  let found = false;
  const note = <Block extends { readonly type: string }>(block: Block): Block | typeof NOTE => {
    if (block.type !== "image") return block;
    found = true;
    return NOTE;
  };
  const content = message.content.map((block) =>
    block.type === "tool_result" ? { ...block, content: block.content.map(note) } : note(block),
  );
  return found ? { ...message, content } : message;
}
