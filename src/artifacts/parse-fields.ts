/** Fields that came from a script instead of a file: read by the same tables, so that both mean the same. */
import { hash } from "node:crypto";
import { parseFile } from "./parse-file.ts";
import type { AgentArtifact, HookArtifact, Problem, ScriptChecker, ToolArtifact } from "./project.ts";

interface ArtifactKinds {
  readonly tool: ToolArtifact;
  readonly hook: HookArtifact;
  readonly agent: AgentArtifact;
}

/** The field that a file has as its body. */
const BODY = { tool: "description", agent: "prompt", hook: undefined } as const;

/** `fields` as in frontmatter, with `name` beside them and the body under its own name. */
export function parseFields<Kind extends keyof ArtifactKinds>(
  kind: Kind,
  fields: Readonly<Record<string, unknown>>,
  checker: ScriptChecker,
): { readonly artifact?: ArtifactKinds[Kind]; readonly problems: readonly Problem[] } {
  const bodyField = BODY[kind];
  const { name, ...rest } = fields;
  const body = bodyField === undefined ? "" : String(rest[bodyField] ?? "");
  const head = Object.fromEntries(Object.entries(rest).filter(([key]) => key !== bodyField));
  // JSON is YAML, and one line of it cannot end the frontmatter.
  const text = `---\n${JSON.stringify(head)}\n---\n${body}`;
  const record = parseFile({ kind, file: `${String(name)}.md`, hash: hash("sha256", text), text }, checker);
  const [artifact] = { tool: record.tools, hook: record.hooks, agent: record.agents }[kind];
  const { problems } = record;
  // Chosen by its kind.
  return artifact === undefined ? { problems } : { artifact: artifact as ArtifactKinds[Kind], problems };
}
