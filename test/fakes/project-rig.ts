/** A whole harness on a folder with a project, as the program opens it: real loader, real scripts, hooks at the depth that is asked for. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { createProjectLoader, trustsAll } from "#artifacts";
import type { HarnessOptions } from "#harness";
import type { EventPayload } from "#protocol";
import { createScriptChecker } from "#script";
import { createBuiltinTools } from "#tools";
import { createHarnessRig, type HarnessRig, type RigOptions } from "./harness-rig.ts";
import type { MockReply } from "./mock-reply.ts";

export type ProjectFiles = Readonly<Record<string, string>>;

export interface ProjectRig extends HarnessRig {
  write(file: string, content: string): void;
  remove(file: string): void;
  /** The texts of the results so far, oldest first. */
  results(): readonly string[];
  /** The counters of the project's scripts as they are now. */
  counters(): Promise<EventPayload<"MetricsCounted">["counters"]>;
}

export async function createProjectRig(
  files: ProjectFiles,
  replies: readonly MockReply[] = [],
  options: RigOptions = {},
): Promise<ProjectRig> {
  const rig = await createHarnessRig(replies, {
    projects: openProjects,
    ...options,
    prepare(workspace) {
      for (const [file, content] of Object.entries(files)) workspace.put(file, content);
      options.prepare?.(workspace);
    },
  });
  return {
    ...rig,
    write: (file, content) => void rig.workspace.put(file, content),
    remove: (file) => rmSync(join(rig.workspace.root, file)),
    results: () =>
      rig
        .of("ToolResult")
        .map(({ content }) => content.map((block) => (block.type === "text" ? block.text : block.type)).join("\n")),
    async counters() {
      await rig.next("MetricsCounted");
      return rig.of("MetricsCounted").at(-1)?.counters ?? {};
    },
  };
}

export const openProjects = projectsUnder();

/** The project of a folder, below the policy in a file of that folder; every problem of one that does not load. */
export function projectsUnder(adminPolicy?: string): NonNullable<HarnessOptions["projects"]> {
  return (root) => openBelow(root, adminPolicy === undefined ? {} : { adminPolicy: join(root, adminPolicy) });
}

async function openBelow(root: string, admin: { readonly adminPolicy?: string }) {
  const knownTools = createBuiltinTools()
    .tools()
    .map(({ name }) => name);
  const checker = createScriptChecker();
  const loader = await createProjectLoader({ root, checker, knownTools, trust: trustsAll, ...admin });
  const { project, problems } = loader.load();
  if (project === undefined) throw new Error(problems.map(({ message }) => message).join("\n"));
  return { loader, project };
}
