/** The resources and resource templates of a server as it lists them: checked, bounded, in its own words without what nobody sees. */
import { isRecord, type ServerResource, visibleLine } from "#base";

const MAX_RESOURCES = 10_000;
const MAX_URI_CHARS = 2_048;
const MAX_WORDS_CHARS = 500;

export interface ResourceListReader {
  /** False when no further resource is read. */
  add(page: readonly unknown[], isTemplate: boolean): boolean;
  resources(): readonly ServerResource[];
}

export function readResources(refuse: (text: string) => void): ResourceListReader {
  const resources: ServerResource[] = [];
  return {
    add(page, isTemplate) {
      for (const entry of page) {
        const resource = readResource(entry, isTemplate);
        if (resource === undefined) refuse("a resource without a usable URI is left out");
        else if (resources.length < MAX_RESOURCES) resources.push(resource);
        else {
          refuse(`it lists more than ${MAX_RESOURCES} resources; the others are left out`);
          return false;
        }
      }
      return true;
    },
    resources: () => resources,
  };
}

/** One that can be sent to its server: with a scheme, and without what nobody sees. Nothing here ever opens it. */
export function isResourceUri(uri: string): boolean {
  return uri.length <= MAX_URI_CHARS && /^[A-Za-z][A-Za-z0-9+.-]*:[^\s\p{C}]+$/u.test(uri);
}

function readResource(entry: unknown, isTemplate: boolean): ServerResource | undefined {
  if (!isRecord(entry)) return undefined;
  const uri = isTemplate ? entry.uriTemplate : entry.uri;
  if (typeof uri !== "string" || !(isTemplate ? isTemplateUri(uri) : isResourceUri(uri))) return undefined;
  const { name, title, description, mimeType, size } = entry;
  return {
    uri,
    isTemplate,
    name: words(title ?? name),
    description: words(description),
    ...(typeof mimeType === "string" && { mimeType: words(mimeType) }),
    ...(typeof size === "number" && Number.isSafeInteger(size) && { sizeBytes: size }),
  };
}

/** Whoever reads it fills it in: what stands in braces may be anything but blank. */
function isTemplateUri(uri: string): boolean {
  return uri.length <= MAX_URI_CHARS && /^[^\s\p{C}]+$/u.test(uri);
}

function words(text: unknown): string {
  return typeof text === "string" ? visibleLine(text.slice(0, MAX_WORDS_CHARS)) : "";
}
