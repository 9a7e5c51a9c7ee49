/** Which version of each optional file is in force: the one on disk once it was allowed, until then the last one that was. */
import type { ReadFile } from "./assemble.ts";
import { isOptionalKind } from "./file-kinds.ts";
import type { LeftOutFile } from "./optional-file.ts";
import type { Judgement, Problem } from "./project.ts";

export interface OptionalChoice {
  /** Artifacts as they are, and the optional files that are in force. */
  readonly files: readonly ReadFile[];
  readonly leftOut: readonly LeftOutFile[];
  /** Warnings: no optional file can keep a project from loading. */
  readonly problems: readonly Problem[];
}

/** One for each loader: it remembers what was allowed. */
export function createOptionalChoice(): (files: readonly ReadFile[], judgement: Judgement) => OptionalChoice {
  const allowed = new Map<string, ReadFile>();

  return (files, { awaiting, denied }) => {
    const [waiting, refused] = [new Set(awaiting.map(({ file }) => file)), new Set(denied)];
    const leftOut: LeftOutFile[] = [];
    const problems: Problem[] = [];
    const inForce = files.flatMap((seen): readonly ReadFile[] => {
      const { kind, file } = seen.source;
      if (!isOptionalKind(kind)) return [seen];
      if (refused.has(file)) {
        allowed.delete(file);
        leftOut.push({ kind, file, why: "denied", earlier: false });
        return [];
      }
      const before = allowed.get(file);
      const isBroken = isBrokenOptional(seen);
      problems.push(...seen.record.problems.map((problem) => asWarning(problem, isBroken ? before : seen)));
      if (!isBroken && !waiting.has(file)) {
        const taken = { ...seen, record: { ...seen.record, problems: [] } };
        allowed.set(file, taken);
        return [taken];
      }
      leftOut.push({ kind, file, why: isBroken ? "broken" : "not-acked", earlier: before !== undefined });
      return before === undefined ? [] : [before];
    });
    const here = new Set(files.map(({ source }) => source.file));
    for (const [file, before] of allowed) {
      if (here.has(file)) continue;
      // One that may have been a guard protects until somebody agrees that it is gone.
      if (waiting.has(file)) inForce.push(before);
      else allowed.delete(file);
    }
    return { files: inForce, leftOut, problems };
  };
}

/** Nobody is asked to agree to what cannot be read. */
export function isBrokenOptional({ source, content, record }: ReadFile): boolean {
  if (!isOptionalKind(source.kind)) return false;
  return content === undefined || record.problems.some(({ severity }) => severity === "error");
}

function asWarning(problem: Problem, inForce: ReadFile | undefined): Problem {
  if (problem.severity === "warning") return problem;
  const instead = inForce === undefined ? "Harness leaves the file out." : "Its last allowed version stays in force.";
  return { ...problem, severity: "warning", message: `${problem.message} ${instead}` };
}
