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
import { isRecord, messageOf, nearestName } from "#base";
import { ReasonError } from "#protocol";

const CASE_FILE = /\.ya?ml$/i;
const MAX_CASES = 10_000;

export interface LoadedCase {
  /** Absolute. */
  readonly path: string;
  /** As people know it: from the current folder. */
  readonly shown: string;
  readonly evalCase: EvalCase;
  /** Of a scenario that is written in the case. */
  readonly scenarioText?: string;
  /** Where its cassette is, or would be. */
  readonly cassette: string;
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
}

export async function loadSuite({ cwd, paths, checker }: SuitePlace): Promise<LoadedSuite> {
  const readEvalFile = await loadEvalReader();
  const files = [...new Set((await Promise.all(paths.map((path) => caseFiles(cwd, path)))).flat())];
  if (files.length > MAX_CASES) throw usage(`there are ${files.length} cases; at most ${MAX_CASES} are run at once`);
  const cases: LoadedCase[] = [];
  const problems: Problem[] = [];
  for (const path of files) {
    const shown = shownPath(cwd, path);
    const { evalCase, scenarioText, problems: found } = readEvalFile(path, checker);
    const own = [...found];
    const complete = evalCase && withSchemas(evalCase, path, own);
    problems.push(...own.map((problem) => ({ ...problem, place: { ...problem.place, file: shown } })));
    if (complete === undefined) continue;
    const twin = cases.find((one) => one.evalCase.name === complete.name);
    if (twin !== undefined) {
      const message = `There is another case "${complete.name}" in ${twin.shown}.`;
      problems.push({ severity: "error", code: "duplicate-name", place: { ...complete.place, file: shown }, message });
    }
    const cassette = path.replace(CASE_FILE, ".cassette");
    cases.push({ path, shown, evalCase: complete, cassette, ...(scenarioText === undefined ? {} : { scenarioText }) });
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
    throw usage(`there is no ${what} "${name}".${hint}`);
  }
}

async function caseFiles(cwd: string, path: string): Promise<readonly string[]> {
  const place = resolve(cwd, path);
  const info = await stat(place).catch((error: unknown) => {
    throw usage(`${path} cannot be read: ${messageOf(error)}`);
  });
  if (!info.isDirectory()) return [place];
  const names = (await readdir(place)).filter((name) => CASE_FILE.test(name) && !name.startsWith(".")).sort();
  if (names.length === 0) throw usage(`there is no case (*.yaml) in ${path}`);
  return names.map((name) => join(place, name));
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
    return isRecord(schema) ? schema : "it is no JSON object.";
  } catch (error) {
    return messageOf(error);
  }
}

function shownPath(cwd: string, path: string): string {
  const way = relative(cwd, path);
  return (way.startsWith("..") ? path : way).split(sep).join("/");
}

function usage(detail: string): ReasonError {
  return new ReasonError("UsageInvalid", { detail });
}
