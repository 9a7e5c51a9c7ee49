/** One eval case as it is written in its file, with every problem of it. Runs nothing. */

import { basename } from "node:path";
import { defined } from "#base";
import { type EvalCase, readCase } from "./eval-table.ts";
import { readFileContent } from "./file-content.ts";
import { MAX_YAML_CHARS } from "./parse-file.ts";
import type { Problem, ScriptChecker, SourceLocation } from "./project.ts";
import { error, type Reader } from "./schema.ts";
import { parseYaml } from "./yaml-tree.ts";

export interface EvalFile {
  /** Absolute. */
  readonly path: string;
  /** SHA-256 of its bytes, hex; absent when it could not be read. */
  readonly hash?: string;
  /** Absent when there was an error. */
  readonly evalCase?: EvalCase;
  /** A scenario that is written in the case: the same lines at the same places, and nothing else. */
  readonly scenarioText?: string;
  readonly problems: readonly Problem[];
}

/**
 * Never throws because of the file. Places name it by its last part, as events of its session do: they must not depend on where
 * somebody stands.
 */
export function readEvalFile(path: string, checker: ScriptChecker): EvalFile {
  const file = basename(path);
  const outcome = readFileContent(path, file, undefined);
  if ("problem" in outcome) return { path, problems: [outcome.problem] };
  const { text, hash } = outcome.content;
  const problems: Problem[] = [];
  // A case has few hooks, and their order is the one they are written in.
  const report = (problem: Problem): undefined => void (problem.code === "no-priority" || problems.push(problem));
  const reader: Reader = { file, hash, tier: "project", report };
  if (text.length > MAX_YAML_CHARS) {
    report(error("too-large", start(file), `The file has more than ${MAX_YAML_CHARS} characters.`));
    return { path, hash, problems };
  }
  const tree = parseYaml(file, text, problems);
  if (tree === undefined) return { path, hash, problems };
  const evalCase = readCase({ ...tree, place: start(file) }, reader);
  if (evalCase !== undefined) checkScripts(evalCase, checker, report);
  if (evalCase === undefined || problems.some(({ severity }) => severity === "error")) {
    return { path, hash, problems };
  }
  const { scenario } = evalCase.setup;
  const inline = scenario !== undefined && "inline" in scenario ? linesFrom(text, scenario.place) : undefined;
  return { path, hash, evalCase, problems, ...defined({ scenarioText: inline }) };
}

/** What could not be checked does not pass. */
function checkScripts({ setup }: EvalCase, checker: ScriptChecker, report: (problem: Problem) => void): void {
  for (const part of [...setup.tools, ...setup.hooks]) {
    try {
      for (const problem of part.kind === "tool" ? checker.tool(part) : checker.hook(part)) report(problem);
    } catch (cause) {
      report(error("check-failed", part.place, `The script could not be checked: ${String(cause)}`));
    }
  }
}

/** The block that begins at the place, where it is; the lines before it are empty. */
function linesFrom(text: string, { line, column }: SourceLocation): string {
  const lines = text.split("\n");
  const rest = lines.slice(line - 1);
  const isOutside = (one: string): boolean => one.trim() !== "" && one.search(/\S/) < column - 1;
  const end = rest.findIndex(isOutside);
  return [...lines.slice(0, line - 1).map(() => ""), ...(end < 0 ? rest : rest.slice(0, end)), ""].join("\n");
}

function start(file: string): SourceLocation {
  return { file, line: 1, column: 1 };
}
