/** The project of an embedding program: opened like any other, where nobody can be asked about its files. */
import type { Project } from "#artifacts";
import { type Clock, defined } from "#base";
import type { OpenProject } from "#session";
import type { ProjectPorts } from "./ports.ts";
import { mayHaveProject, problemText, soundProject } from "./projects.ts";

const REMEDY =
  "Elsewhere: write a lock file with harness ack and pass its path as 'lockfile'. Without the project: leave out 'project'.";

export interface EmbeddedProject {
  readonly project: Project;
  readonly projects: OpenProject;
}

/** Undefined where the folder has none. Throws NonInteractiveAckRefused for files that nobody acked, ConfigInvalid for broken ones. */
export async function openEmbeddedProject(
  { env, clock, warn }: { readonly env: ProjectPorts["env"]; readonly clock: Clock; warn(message: string): void },
  workspace: string,
  { lockfile }: { readonly lockfile?: string },
): Promise<EmbeddedProject | undefined> {
  const ports: ProjectPorts = {
    env,
    clock,
    cwd: workspace,
    // The embedding program may change at any time: findings about files are not kept for it.
    build: { version: "embedded", commit: "source", builtAt: "source" },
    terminal: {
      err: (text) => warn(text.trimEnd()),
      interactive: false,
      colour: false,
      onInterrupt: () => () => undefined,
    },
  };
  if (!mayHaveProject(ports, { dir: workspace })) return undefined;
  const { openTrustedProject } = await import("./trusted-project.ts");
  const { loader, loaded } = await openTrustedProject(
    ports,
    { dir: workspace },
    { ...defined({ lockfile }), remedy: REMEDY },
  );
  const project = soundProject(loaded);
  for (const problem of loaded.problems) warn(problemText(problem));
  return { project, projects: async (folder) => (folder === workspace ? { loader, project } : undefined) };
}
