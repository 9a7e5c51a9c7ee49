/** Which cases there are: the files of a suite, read and checked, with every problem at its place. Runs nothing. */

import { readdir, stat } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import {
  type EvalCase,
  loadEvalReader,
  type PlacedAssertion,
  type Problem,
  readFileContent,
  type ScriptChecker,
} from "#artifacts";
import { defined, isRecord, messageOf, nearestName } from "#base";
import { ReasonError } from "#protocol";

const CASE_FILE = /\.ya?ml$/i;
const MAX_CASES = 10_000;

export interface LoadedCase {
  /** Absolute. */
  readonly path: string;
  /** As people know it: from the current folder. */
  readonly shown: string;
  readonly evalCase: EvalCase;
  /** What the model plays, written in the case or in a file of its own. */
  readonly scenario?: { readonly text: string; readonly shown: string };
  /** What it consists of, as it was read: the case, and the file of its scenario. Each with the SHA-256 of its bytes, hex. */
  readonly files: readonly CaseFile[];
  /** Where its cassette is, or would be. */
  readonly cassette: string;
}

export interface CaseFile {
  /** Absolute. */
  readonly path: string;
  readonly hash: string;
}

export interface LoadedSuite {
  /** In the order of the paths that were named, and of their names in a folder. */
  readonly cases: readonly LoadedCase[];
  /** `file` of a place is as people know it. */
  readonly problems: readonly Problem[];
}

export interface SuitePlace {
  readonly cwd: string;
  /** Files, and folders whose files are cases. Throws UsageInvalid for one that is not there or has none. */
  readonly paths: readonly string[];
  readonly checker: ScriptChecker;
  /** A folder without a case is no mistake. */
  readonly mayBeEmpty?: boolean;
}

export async function loadSuite({ cwd, paths, checker, mayBeEmpty }: SuitePlace): Promise<LoadedSuite> {
  const readEvalFile = await loadEvalReader();
  const files = [
    ...new Set((await Promise.all(paths.map((path) => caseFiles(cwd, path, mayBeEmpty === true)))).flat()),
  ];
  if (files.length > MAX_CASES)
    throw new ReasonError("UsageInvalid", `the suite has ${files.length} cases; Harness runs at most ${MAX_CASES}`);
  const cases: LoadedCase[] = [];
  const problems: Problem[] = [];
  for (const path of files) {
    const shown = displayPath(cwd, path);
    const { evalCase, hash = "", scenarioText, problems: found } = readEvalFile(path, checker);
    const own = [...found];
    const complete = evalCase && withSchemas(evalCase, path, own);
    const played = complete && scenarioFile(complete, path, own);
    problems.push(...own.map((problem) => ({ ...problem, place: { ...problem.place, file: shown } })));
    if (complete === undefined || own.some(({ severity }) => severity === "error")) continue;
    const twin = cases.find((one) => one.evalCase.name === complete.name);
    if (twin !== undefined) {
      const message = `There is another case "${complete.name}" in ${twin.shown}.`;
      problems.push({ severity: "error", code: "duplicate-name", place: { ...complete.place, file: shown }, message });
    }
    const cassette = path.replace(CASE_FILE, ".cassette");
    const sharing = cases.find((one) => one.cassette === cassette);
    if (sharing !== undefined) {
      const message = `${sharing.shown} would use the same cassette. Rename one of the two files.`;
      problems.push({ severity: "error", code: "duplicate-name", place: { ...complete.place, file: shown }, message });
    }
    const inline = scenarioText === undefined ? undefined : { text: scenarioText, shown };
    const scenario = played === undefined ? inline : { text: played.text, shown: displayPath(cwd, played.path) };
    cases.push({
      ...{ path, shown, evalCase: complete, cassette },
      files: [{ path, hash }, ...(played === undefined ? [] : [{ path: played.path, hash: played.hash }])],
      ...defined({ scenario }),
    });
  }
  return { cases, problems };
}

export interface CaseFilter {
  readonly names?: readonly string[];
  readonly categories?: readonly string[];
}

/** Throws UsageInvalid for a name or category that no case has: nothing is left out because of a slip. */
export function filterCases(cases: readonly LoadedCase[], { names, categories }: CaseFilter): readonly LoadedCase[] {
  requireKnown("case", names, new Set(cases.map(({ evalCase }) => evalCase.name)));
  requireKnown("category", categories, new Set(cases.flatMap(({ evalCase }) => evalCase.category ?? [])));
  return cases.filter(({ evalCase: { name, category } }) => {
    const isNamed = names === undefined || names.includes(name);
    return isNamed && (categories === undefined || (category !== undefined && categories.includes(category)));
  });
}

function requireKnown(what: string, wanted: readonly string[] | undefined, known: ReadonlySet<string>): void {
  for (const name of wanted ?? []) {
    if (known.has(name)) continue;
    const nearest = nearestName(name, known);
    const hint = nearest === undefined ? "" : ` Did you mean "${nearest}"?`;
    throw new ReasonError("UsageInvalid", `there is no ${what} "${name}".${hint}`);
  }
}

async function caseFiles(cwd: string, path: string, mayBeEmpty: boolean): Promise<readonly string[]> {
  const place = resolve(cwd, path);
  const info = await stat(place).catch((error: unknown) => {
    throw new ReasonError("UsageInvalid", `${path} cannot be read: ${messageOf(error)}`);
  });
  if (!info.isDirectory()) return [place];
  const names = (await readdir(place)).filter((name) => CASE_FILE.test(name) && !name.startsWith(".")).sort();
  if (names.length === 0 && !mayBeEmpty) throw new ReasonError("UsageInvalid", `there is no case (*.yaml) in ${path}`);
  return names.map((name) => join(place, name));
}

/** The file that the scenario of a case is in, read once: what is played is what was looked at. */
function scenarioFile(
  { setup: { scenario } }: EvalCase,
  casePath: string,
  problems: Problem[],
): (CaseFile & { readonly text: string }) | undefined {
  if (scenario === undefined || !("file" in scenario)) return undefined;
  const path = resolve(dirname(casePath), scenario.file);
  const outcome = readFileContent(path, basename(path), undefined);
  if (!("problem" in outcome)) return { path, ...outcome.content };
  const message = `The scenario ${scenario.file} cannot be used: ${outcome.problem.message}`;
  problems.push({ severity: "error", code: "bad-scenario", place: scenario.place, message });
  return undefined;
}

/** The case with what its schemas say; undefined when one cannot be read. */
function withSchemas(evalCase: EvalCase, path: string, problems: Problem[]): EvalCase | undefined {
  let isWhole = true;
  const grade = evalCase.grade.map((placed): PlacedAssertion => {
    const { assertion, place } = placed;
    if (assertion.type !== "json_schema" || !isFileName(assertion.schema)) return placed;
    const schema = readSchema(resolve(dirname(path), assertion.schema.file));
    if (typeof schema !== "string") return { ...placed, assertion: { type: "json_schema", schema } };
    isWhole = false;
    const message = `The schema ${assertion.schema.file} cannot be used: ${schema}`;
    problems.push({ severity: "error", code: "bad-schema", place, message, expected: "a file with a JSON Schema" });
    return placed;
  });
  return isWhole ? { ...evalCase, grade } : undefined;
}

function isFileName(schema: Readonly<Record<string, unknown>> | { readonly file: string }): schema is { file: string } {
  return Object.keys(schema).length === 1 && typeof schema.file === "string";
}

/** The schema, or why it is none. */
function readSchema(path: string): Readonly<Record<string, unknown>> | string {
  const outcome = readFileContent(path, basename(path), undefined);
  if ("problem" in outcome) return outcome.problem.message;
  try {
    const schema: unknown = JSON.parse(outcome.content.text);
    return isRecord(schema) ? schema : "it is not a JSON object.";
  } catch (error) {
    return messageOf(error);
  }
}

function displayPath(cwd: string, path: string): string {
  const way = relative(cwd, path);
  return (way.startsWith("..") ? path : way).split(sep).join("/");
}
