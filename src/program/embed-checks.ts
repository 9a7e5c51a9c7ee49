/** What an embedding program may get wrong, said in terms of its own API: options that do not exist, tools of the wrong shape. */
import { isRecord, nearestName } from "#base";
import { type InputBlock, ReasonError, type SessionId } from "#protocol";
import { findVendor } from "#providers";

/** How keys begin, the longest beginning first, and whose they are. */
const KEY_BEGINNINGS = [
  ["sk-ant-", "anthropic"],
  ["sk-or-", "openrouter"],
  ["sk-", "openai"],
] as const;

/** Throws UsageInvalid and names the options that there are not. */
export function checkOptions(given: object, known: readonly string[]): void {
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue;
    const nearest = nearestName(name, known);
    throw usage(`createHarness has no option '${name}'${nearest === undefined ? "" : `; did you mean '${nearest}'?`}`);
  }
}

/** The small model of whoever gives out keys like this one. */
export function modelForKey(apiKey: string): string {
  const [, vendor] = KEY_BEGINNINGS.find(([beginning]) => apiKey.startsWith(beginning)) ?? [];
  const models = vendor === undefined ? undefined : findVendor(vendor)?.models;
  if (models === undefined) throw usage("'apiKey' does not say which provider it is for: also set 'model'");
  return `${vendor}:${models.small}`;
}

/** Throws UsageInvalid and says what a tool lacks. */
export function checkTool(tool: unknown, index: number): void {
  if (!isRecord(tool)) throw usage(`tools[${index}] is not an object`);
  const { name } = tool;
  const which = typeof name === "string" && name !== "" ? `the tool '${name}'` : `tools[${index}]`;
  const need = (isRight: boolean, what: string): void => {
    if (!isRight) throw usage(`${which} needs ${what}`);
  };
  need(
    typeof name === "string" && /^[\w.-]{1,64}$/.test(name),
    "a name of letters, digits, '_', '-' and '.', at most 64",
  );
  need(typeof tool.description === "string", "a description, as text");
  const schema = "run" in tool ? "parameters" : "inputSchema";
  const given = tool[schema];
  need(isRecord(given) && given.type === "object", `${schema}, the JSON Schema of an object ({ type: "object", … })`);
  need(typeof (tool.run ?? tool.execute) === "function", "a function execute(input, context)");
  const { class: kind = "mutating" } = tool;
  need(
    kind === "read_only" || kind === "mutating" || kind === "sensitive",
    "a class: read_only, mutating or sensitive",
  );
}

function usage(detail: string): ReasonError {
  return new ReasonError("UsageInvalid", detail);
}

/** What somebody else's program gives as an input. Rejects with InvalidCommand for blocks that no client may send. */
export async function inputOf(session: SessionId, content: string | readonly InputBlock[]): Promise<InputBlock[]> {
  if (typeof content === "string") return [{ type: "text", text: content }];
  const { commandFrom } = await import("#protocol/schemas");
  return commandFrom("SendInput", { session, content }).content;
}
