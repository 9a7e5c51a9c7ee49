/** The answer of a server as blocks for the model: text and images as they are, everything else as text that says what it is. */
import { beginningOf, canonicalJson, isRecord, type ServerAnswer, visibleLine } from "#base";
import type { ToolOutput } from "#engine";
import { imageTypeOfBase64, type ToolOutputBlock } from "#protocol";

const MAX_TEXT_CHARS = 400_000;
const MAX_IMAGES = 10;
const MAX_IMAGE_CHARS = 7_000_000;
const MAX_BLOCKS = 1_000;
const MAX_NAME_CHARS = 500;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
export function toolOutput(answer: ServerAnswer): ToolOutput {
  const blocks: ToolOutputBlock[] = [];
  let charsLeft = MAX_TEXT_CHARS;
  let imagesLeft = MAX_IMAGES;

  function addText(text: string): void {
    if (charsLeft <= 0 || text === "") return;
    const shown = beginningOf(text, charsLeft);
    const cut = shown.length < text.length;
    charsLeft = cut ? 0 : charsLeft - text.length;
    blocks.push({ type: "text", text: cut ? `${shown}\n[… the rest was left out]` : shown });
  }

  function addData(kind: string, mimeType: unknown, data: unknown): void {
    const isData =
      typeof data === "string" && data.length <= MAX_IMAGE_CHARS && data.length % 4 === 0 && BASE64.test(data);
    // Not what the server calls it: a vendor that cannot read an image refuses every later turn.
    const type = isData && String(mimeType).startsWith("image/") ? imageTypeOfBase64(data) : undefined;
    if (type !== undefined && isData && imagesLeft > 0) {
      imagesLeft -= 1;
      blocks.push({ type: "image", media_type: type, data });
      return;
    }
    const bytes = typeof data === "string" ? Math.floor((data.length * 3) / 4) : 0;
    addText(`[${kind}, ${shortName(mimeType)}, ${bytes} bytes: not shown]`);
  }

  function addBlock(block: Readonly<Record<string, unknown>>): void {
    switch (block.type) {
      case "text":
        addText(String(block.text));
        break;
      case "image":
      case "audio":
        addData(block.type, block.mimeType, block.data);
        break;
      case "resource_link": {
        const parts = [block.uri, block.name, block.mimeType].filter((part) => typeof part === "string");
        addText(`[resource link: ${parts.map(shortName).join(", ")}]`);
        break;
      }
      case "resource": {
        const resource = isRecord(block.resource) ? block.resource : {};
        if (typeof resource.text === "string") addText(`[resource: ${shortName(resource.uri)}]\n${resource.text}`);
        else addData(`resource ${shortName(resource.uri)}`, resource.mimeType, resource.blob);
        break;
      }
      default:
        addText(`[content of the unknown type ${shortName(block.type)}: not shown]`);
    }
  }

  for (const block of answer.content.slice(0, MAX_BLOCKS)) addBlock(block);
  if (answer.content.length > MAX_BLOCKS) addText(`[${answer.content.length - MAX_BLOCKS} further blocks: not shown]`);
  if (answer.structured !== undefined && !isRepeated(answer)) addText(JSON.stringify(answer.structured, undefined, 1));
  if (blocks.length === 0) addText("(empty answer)");
  return { content: blocks, isError: answer.isError };
}

/** Servers repeat structured content as text, for clients that know text alone: as JSON, or the fields of it. */
function isRepeated({ content, structured }: ServerAnswer): boolean {
  const texts = content.flatMap(({ type, text }) => (type === "text" && typeof text === "string" ? [text] : []));
  if (isRecord(structured) && Object.values(structured).every((field) => texts.some((text) => text === field)))
    return true;
  const json = canonicalJson(structured);
  return texts.some((text) => {
    try {
      return canonicalJson(JSON.parse(text)) === json;
    } catch {
      return false; // ordinary text
    }
  });
}

function shortName(value: unknown): string {
  return visibleLine(String(value).slice(0, MAX_NAME_CHARS));
}
