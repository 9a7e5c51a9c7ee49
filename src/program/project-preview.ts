/**
 * What the model would be sent in a folder, for commands that show it: the same program and the same session as `run` opens, with a
 * project that need not be acked and a model that is named and never reached.
 */
import type { Project, ProjectLoader } from "#artifacts";
import { defined } from "#base";
import { reasonText } from "#protocol";
import type { ModelChoice } from "#providers";
import { assembleHarness } from "./assemble.ts";
import { loadSettings, scenarioFile } from "./open.ts";
import type { ProgramPorts } from "./ports.ts";
import { mayHaveProject, type ProjectPlace, userFlags } from "./projects.ts";
import type { RunFlags } from "./run-flags.ts";
import type { SessionPreview } from "./session-preview.ts";
import { loadPlugins } from "./user-plugins.ts";

export interface PreviewOptions {
  readonly place: ProjectPlace;
  readonly project: Project;
  readonly flags: Partial<Pick<RunFlags, "config" | "profile" | "framework" | "model" | "set" | "sandbox">>;
}

export async function previewProject(
  ports: ProgramPorts,
  { place, project, flags }: PreviewOptions,
): Promise<SessionPreview> {
  const { env, clock } = ports;
  const { settings } = await loadSettings(ports, userFlags(flags), project);
  const model = flags.model ?? env.HARNESS_MODEL;
  const harness = await assembleHarness({
    settings,
    env,
    // The command that looks may want a key afterwards.
    credentials: { ...ports.credentials, close: () => undefined },
    clock,
    workspace: project.root,
    offlineAllowed: true,
    chooseModels: async ({ models }) => unsentModels(model ?? models[0]?.model ?? "not configured"),
    scenarioFile: (name) => scenarioFile(ports, name),
    store: { kind: "memory" },
    autoApprove: false,
    plugins: await loadPlugins(settings, clock),
    args: ["harness", ...ports.args],
    ...defined({ context: flags.set, model }),
    ...(mayHaveProject(ports, place) ? { projects: async () => ({ project, loader: fixed(project) }) } : {}),
  });
  try {
    return await harness.preview(project.root);
  } finally {
    await harness.shutdown();
  }
}

/** Any name is one; a request to it fails. */
function unsentModels(model: string): ModelChoice {
  const message = reasonText("NotAllowed", { detail: "This session is a preview and sends nothing." });
  return {
    model,
    fallbacks: [],
    offline: false,
    resolve: async (text) => text,
    provider: {
      name: "unsent",
      chat: async () => ({ type: "failed", reason: "NotAllowed", message, retryable: false }),
      models: async () => [],
      countTokens: () => 0,
    },
  };
}

/** One look: files that change meanwhile are seen by the next. */
function fixed(project: Project): ProjectLoader {
  return { load: () => ({ project, problems: [] }), refresh: () => undefined, touch: () => undefined };
}
