/** A `SKILL.md` from outside a project: one of the user, or one that ships with the program. Nobody is asked about either. */
import { createHash } from "node:crypto";
import type { LeftOutFile, OptionalFile } from "./optional-file.ts";
import type { LoadedProject, Problem } from "./project.ts";
import { readSkill } from "./skill-table.ts";

export type SkillOrigin = NonNullable<OptionalFile<"skill">["origin"]>;

/** Skills beside those of a project. A skill that is broken is left out, with warnings. */
export interface OwnSkills {
  readonly files: readonly OptionalFile<"skill">[];
  readonly leftOut: readonly LeftOutFile[];
  readonly problems: readonly Problem[];
}

export function readOwnSkill(file: string, text: string, origin: SkillOrigin): OwnSkills {
  const hash = createHash("sha256").update(text).digest("hex");
  const found: Problem[] = [];
  const content = readSkill(text, { file, hash, tier: "project", report: (problem) => void found.push(problem) });
  const problems = found.map(
    (problem): Problem =>
      problem.severity === "warning"
        ? problem
        : { ...problem, severity: "warning", message: `${problem.message} Harness leaves the file out.` },
  );
  if (content === undefined || found.some(({ severity }) => severity === "error")) {
    return { files: [], leftOut: [{ kind: "skill", file, why: "broken", earlier: false }], problems };
  }
  return { files: [{ kind: "skill", file, hash, content, origin }], leftOut: [], problems };
}

/** The skills of the project come behind these, and so win over them. */
export function withOwnSkills(loaded: LoadedProject, { files, leftOut, problems }: OwnSkills): LoadedProject {
  const { project } = loaded;
  if (project === undefined) return loaded;
  return {
    ...loaded,
    problems: [...loaded.problems, ...problems],
    project: { ...project, optional: [...files, ...project.optional], leftOut: [...project.leftOut, ...leftOut] },
  };
}
