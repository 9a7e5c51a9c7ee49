/** Tries examples of artifacts: loads one as a project would, checks its scripts, and runs them on a payload, arguments or values. */
import { canonicalHash, messageOf } from "#base";
import { createScriptChecker } from "#script";
import { parseFile } from "../../src/artifacts/parse-file.ts";
import { createScriptRig, hookCall, mustTool, scriptContext, source } from "./script-rig.ts";

/** `hook`, `tool` and `agent` are whole files; `condition` is the expression of one. */
export type ExampleKind = "hook" | "tool" | "agent" | "condition";

export interface ExampleText {
  readonly kind: ExampleKind;
  readonly text: string;
}

const checker = createScriptChecker();

/** Every error that keeps it from being loaded. */
export function refusalsOf({ kind, text }: ExampleText): readonly string[] {
  const found =
    kind === "condition"
      ? checker.condition("example", source(text))
      : parseFile(parsedFile(kind, text), checker).problems;
  return found.filter(({ severity }) => severity === "error").map(({ message }) => message);
}

/** What it does: the decision of a hook, the result of a tool, the truth of a condition. A failure is `{ failed }`. */
export async function outcomeOf({ kind, text }: ExampleText, given: unknown): Promise<unknown> {
  const page = { status: 200, contentType: "", headers: {}, truncated: false };
  const web = { get: async ({ url }: { url: string }) => ({ ...page, url, body: Buffer.from(`page of ${url}`) }) };
  const { scripts, workspace, lines } = createScriptRig({}, { ...web, post: (request) => web.get(request) });
  workspace.put("notes.txt", "one two\n\nthree\n");
  try {
    // What conditions are given is a dict of values.
    if (kind === "condition") return scripts.condition(source(text))(given as Record<string, unknown>);
    const { hooks, tools, agents } = parseFile(parsedFile(kind, text), checker);
    const [hook] = hooks;
    if (hook !== undefined) {
      const annotated: object[] = [];
      const annotate = (attributes: object): void => void annotated.push(attributes);
      const call = hookCall(workspace.ports, given, { event: hook.event, annotate });
      const made = scripts.hook(hook);
      if (!made.matches(call)) return "not asked";
      const decision = await made.handle(call);
      const said = lines.map(({ message }) => message);
      return { ...decision, ...(said.length > 0 && { said }), ...(annotated.length > 0 && { annotated }) };
    }
    const [tool] = [...tools, ...agents.flatMap((agent) => agent.tools.flatMap((one) => ("ref" in one ? [] : [one])))];
    if (tool === undefined) return "loaded";
    // What tools are given is a dict of arguments.
    const { content, isError } = await mustTool(scripts, tool).run(
      given as Record<string, unknown>,
      scriptContext(workspace.ports),
    );
    const said = content.map((block) => (block.type === "text" ? block.text : block.type)).join("");
    if (isError === true) return { failed: said };
    return said.startsWith("{") || said.startsWith("[") ? JSON.parse(said) : said;
  } catch (error) {
    return { failed: messageOf(error) };
  }
}

/**
 * What an example is made of, coarsely: the keys of its head, the functions and methods that it calls, and the forms that it uses.
 * Two examples with the same set show the same.
 */
export function constructsOf({ kind, text }: ExampleText): ReadonlySet<string> {
  const found = new Set<string>([kind]);
  const add = (pattern: RegExp, name: (match: RegExpExecArray) => string): void => {
    for (const match of text.matchAll(pattern)) found.add(name(match));
  };
  add(/^ *-? *(event|when|condition|timeout_ms|parameters|handler|hooks|tools|verify): *(\S*)/gm, ([, key, value]) =>
    key === "event" ? `event ${value?.replaceAll('"', "")}` : `${key}:`,
  );
  add(
    /\b(cache|ctx|exec|fs|http|json|log|metrics|re|string|time)\.(\w+)\(/g,
    ([, module, name]) => `${module}.${name}()`,
  );
  add(/(?<!\b(?:cache|ctx|exec|fs|http|json|log|metrics|re|string|time))\.(\w+)\(/g, ([, name]) => `.${name}()`);
  add(/(?<![\w.])(\w+)\(/g, ([, name]) => `${name}()`);
  add(/\b(for|continue|lambda|def)\b/g, ([word]) => word);
  add(/" %|\bif .+ else\b|\bpayload\.[a-z]\w*(?![\w(])|\bin \[/g, ([form]) => form.replace(/if .+ else/, "if else"));
  add(/"(action|decision)": "(\w+)"/g, ([, key, value]) => `${key} ${value}`);
  return found;
}

function parsedFile(kind: Exclude<ExampleKind, "condition">, text: string) {
  return { kind, file: `.harness/${kind}s/example.md`, hash: canonicalHash(text), text };
}
