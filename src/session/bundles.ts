/** Tools and hooks that come with a request or with the file of an agent: read by the same tables, checked by the same checker. */
import {
  type AgentArtifact,
  type FieldParser,
  type Problem,
  REQUEST_VERIFIER_NAME,
  type ScriptChecker,
  type ToolArtifact,
  verifierOf,
  verifierTool,
} from "#artifacts";
import type { Bundles } from "#delegation";
import type { Hook, Tool } from "#engine";
import type { Scripts } from "#script";

export interface BundleParts {
  readonly parseFields: FieldParser;
  readonly checker: ScriptChecker;
  readonly scripts: Scripts;
}

export function createBundles({ parseFields, checker, scripts }: BundleParts): Bundles {
  /** Artifacts are read anew when their file changes; until then what was compiled is used again. */
  const compiled = new WeakMap<AgentArtifact, ReturnType<Bundles["ofAgent"]>>();

  function compileTool(artifact: ToolArtifact): Tool {
    const tool = scripts.tool(artifact);
    if (tool === undefined) throw new Error(`the tool ${artifact.name} has no script`);
    return tool;
  }

  /** It looks at the world each time it is asked. */
  function compileVerifier(artifact: ToolArtifact): Tool {
    return { ...compileTool(artifact), fresh: true };
  }

  function compileAgent(agent: AgentArtifact): ReturnType<Bundles["ofAgent"]> {
    const verifier = verifierOf(agent);
    return {
      tools: agent.tools.flatMap((tool) => ("ref" in tool ? [] : [compileTool(tool)])),
      hooks: agent.hooks.flatMap((hook) => ("ref" in hook ? [] : [scripts.hook(hook)])),
      ...(verifier === undefined ? {} : { verifier: compileVerifier(verifier) }),
    };
  }

  return {
    tool: (definition) => compileTool(usable(parseFields("tool", definition, checker))),
    hook: (definition): Hook => scripts.hook(usable(parseFields("hook", definition, checker))),
    verifier(text) {
      const place = { file: "verify", line: 1, column: 1 };
      const artifact = verifierTool({ text, place }, { hash: "", tier: "project" }, place, REQUEST_VERIFIER_NAME);
      return compileVerifier(usable({ artifact, problems: checker.tool(artifact) }));
    },
    ofAgent(agent) {
      const known = compiled.get(agent) ?? compileAgent(agent);
      compiled.set(agent, known);
      return known;
    },
  };
}

function usable<Artifact>({ artifact, problems }: { artifact?: Artifact; problems: readonly Problem[] }): Artifact {
  const errors = problems.filter(({ severity }) => severity === "error");
  if (artifact !== undefined && errors.length === 0) return artifact;
  const told = errors.map(({ place, message, expected }) => {
    const want = expected === undefined ? "" : ` (expected: ${expected})`;
    return `${place.file}:${place.line}:${place.column}: ${message}${want}`;
  });
  throw new Error(told.join("; ") || "it could not be read");
}
