/** A whole harness on a folder with a project, as the program opens it: real loader, real scripts, hooks at the depth that is asked for. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { EventPayload } from "#protocol";
import { createHarnessRig, type HarnessRig, type RigOptions } from "./harness-rig.ts";
import type { MockReply } from "./mock-reply.ts";
import { openProjects } from "./open-projects.ts";

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
