/**
 * Checks scripts before they run: do they compile, is the entry point there, does every name exist for this kind of script, can
 * the condition ever hold, does the hook do what its examples say. Nothing it runs can have an effect.
 */
import type { HookArtifact, Problem, ScriptChecker, ScriptSource, SourceLocation, ToolArtifact } from "#artifacts";
import { nearestName } from "#base";
import { type Issue, Module, type Position, type Program, StarlarkError, universe, type Value } from "#starlark";
import type { Audience } from "./builtins/definition.ts";
import { builtinsFor, builtinTable } from "./builtins/table.ts";
import { compileSource } from "./compiled-script.ts";
import { type CompiledCondition, compileCondition } from "./condition.ts";
import { checkExamples } from "./hook-examples.ts";
import { failureMessage } from "./script-error.ts";

type Names = Readonly<Record<string, Value>>;

/** Functions of Python that people expect, and what to write instead. */
const INSTEAD: Readonly<Record<string, string>> = {
  isinstance: 'type(x) == "string"',
  open: "fs.read(path)",
  import: "the built-in modules, which need no import",
  from: "the built-in modules, which need no import",
  try: "if, and json.decode(x, default=None) where text may be wrong",
  raise: "fail(message)",
  is: "==",
  exit: "return",
  input: "the arguments",
  sum: "a loop",
  map: "a comprehension",
  filter: "a comprehension with if",
  round: "int(x + 0.5) or math.floor",
};

export function createScriptChecker(): ScriptChecker {
  const names = {
    tool: builtinsFor("tool", { effects: "refused" }),
    hook: builtinsFor("hook", { effects: "refused" }),
    condition: builtinsFor("condition", { effects: "refused" }),
  };
  return {
    tool({ script, name }: ToolArtifact) {
      return script === undefined ? [] : checkEntry(script, `tool ${name}`, "tool", names.tool);
    },
    hook(artifact: HookArtifact) {
      const { script, when, name } = artifact;
      const problems = [
        ...(script === undefined ? [] : checkEntry(script, `hook ${name}`, "hook", names.hook)),
        ...(when === undefined
          ? []
          : checkExpression(when, `when: of hook ${name}`, names.condition, ["event", "payload"])),
      ];
      if (problems.some(({ severity }) => severity === "error")) return problems;
      return [...problems, ...checkExamples(artifact, names)];
    },
    condition: (what, source) => checkExpression(source, `condition of ${what}`, names.condition, []),
  };
}

const ENTRIES = {
  tool: { name: "run", takes: 1, shown: "def run(args):" },
  hook: { name: "handle", takes: 2, shown: "def handle(event, payload):" },
} as const;

function checkEntry(source: ScriptSource, what: string, kind: "tool" | "hook", names: Names): Problem[] {
  let program: Program;
  try {
    program = compileSource(source, names);
  } catch (error) {
    return staticProblems(error, source, kind, names);
  }
  return [...entryProblems(program, source.place, what, kind), ...unknownMembers(program, kind, names)];
}

function entryProblems(program: Program, place: SourceLocation, what: string, kind: "tool" | "hook"): Problem[] {
  const entry = ENTRIES[kind];
  const found = program.definition(entry.name);
  const missing = { severity: "error", code: "script-entry", expected: entry.shown } as const;
  if (found === undefined) {
    if (program.globals.some(({ name }) => name === entry.name)) return [];
    const near = nearestName(
      entry.name,
      program.globals.map(({ name }) => name),
    );
    const others = ENTRIES[kind === "tool" ? "hook" : "tool"].name;
    const wrong = program.definition(others) === undefined ? near : others;
    return [
      {
        ...missing,
        place: wrong === undefined ? place : (placeOf(program.definition(wrong)?.position) ?? place),
        message: `${what} has no function ${entry.name}${wrong === undefined ? "" : `; it has ${wrong}`}`,
      },
    ];
  }
  if (found.required <= entry.takes && entry.takes <= found.accepted) return [];
  const takes = found.required === found.accepted ? String(found.required) : `${found.required} to ${found.accepted}`;
  return [
    {
      ...missing,
      place: placeOf(found.position) ?? place,
      message: `${entry.name} of ${what} takes ${takes} arguments, and is called with ${entry.takes}`,
    },
  ];
}

/** `fs.wriet`, and `fs.write` in a hook. */
function unknownMembers(program: Program, kind: "tool" | "hook", names: Names): Problem[] {
  return program.mentions.flatMap(({ name, attribute, position }) => {
    const module = names[name];
    if (attribute === null || !(module instanceof Module) || module.members.has(attribute)) return [];
    const known = [...module.members.keys()];
    const nearest = nearestName(attribute, known);
    return [
      {
        severity: "error" as const,
        code: "script-name",
        place: placeOf(position) ?? { file: program.file, line: 1, column: 1 },
        message: isForOthers(`${name}.${attribute}`, kind)
          ? `${name}.${attribute} is not available to ${kind}s`
          : `${name} has no function ${attribute}`,
        expected: known.map((member) => `${name}.${member}`).join(", "),
        ...(nearest !== undefined && { nearest: `${name}.${nearest}` }),
      },
    ];
  });
}

/** A name that exists, for another kind of script. */
function isForOthers(name: string, kind: Audience): boolean {
  return builtinTable().some(
    (row) => !row.audience.includes(kind) && (row.signature.startsWith(`${name}(`) || row.module === name),
  );
}

function staticProblems(error: unknown, source: ScriptSource, kind: Audience, names: Names): Problem[] {
  if (!(error instanceof StarlarkError)) throw error;
  if (error.issues.length === 0) {
    return [{ severity: "error", code: "script-syntax", place: source.place, message: failureMessage(error) }];
  }
  return error.issues.map((issue) =>
    error.kind === "syntax" ? syntaxProblem(issue, source) : nameProblem(issue, kind, names),
  );
}

/** Words of Python that mean nothing here. */
const RESERVED = /^(?:as|class|del|except|finally|from|global|import|is|nonlocal|raise|try|with|yield)\b/;

function syntaxProblem({ position, message }: Issue, { text, place }: ScriptSource): Problem {
  const line = text.split("\n")[position.line - place.line] ?? "";
  const word = RESERVED.exec([...line].slice(position.column - place.column).join(""))?.[0];
  const base = { severity: "error", code: "script-syntax", place: placeOf(position) ?? place } as const;
  if (word === undefined) return { ...base, message };
  const instead = Object.hasOwn(INSTEAD, word) ? INSTEAD[word] : undefined;
  const hint = instead === undefined ? "" : ` (write ${instead})`;
  return {
    ...base,
    message: `${word} is not in the language${hint}`,
    ...(instead !== undefined && { expected: instead }),
  };
}

function nameProblem({ position, message }: Issue, kind: Audience, names: Names): Problem {
  const code = "script-name";
  const place = placeOf(position) ?? { file: position.file, line: position.line, column: position.column };
  const undefinedName = /^undefined: (\S+)(?: \(did you mean (\S+)\?\))?$/.exec(message);
  if (undefinedName === null) return { severity: "error", code, place, message };
  const [, name = "", guess] = undefinedName;
  if (isForOthers(name, kind)) {
    const who = kind === "condition" ? "when: and condition:" : `${kind}s`;
    return { severity: "error", code, place, message: `${name} is not available to ${who}` };
  }
  const instead = Object.hasOwn(INSTEAD, name) ? INSTEAD[name] : undefined;
  const nearest = guess ?? nearestName(name, [...Object.keys(names), ...universe.keys()]);
  return {
    severity: "error",
    code,
    place,
    message: `undefined: ${name}${instead === undefined ? "" : ` (write ${instead})`}`,
    ...(instead !== undefined && { expected: instead }),
    ...(nearest !== undefined && instead === undefined && { nearest }),
  };
}

function checkExpression(source: ScriptSource, what: string, names: Names, inputs: readonly string[]): Problem[] {
  let compiled: CompiledCondition;
  try {
    compiled = compileCondition(source, names);
  } catch (error) {
    return staticProblems(error, source, "condition", names);
  }
  const { settled } = compiled.expression;
  const problems: Problem[] = [];
  if (inputs.length === 0 && /\b(?:payload|event)\b/.test(source.text) && settled === undefined) {
    problems.push({
      severity: "warning",
      code: "condition-input",
      place: source.place,
      message: `the ${what} is evaluated outside of events: event is empty and payload is None`,
      expected: 'ctx.get("name")',
    });
  }
  if (settled !== undefined) {
    problems.push({
      severity: "warning",
      code: settled ? "condition-always" : "condition-never",
      place: source.place,
      message: `the ${what} is always ${settled ? "true" : "false"}${settled ? "" : ", so it never has an effect"}`,
    });
  }
  return problems;
}

function placeOf(position: Position | undefined): SourceLocation | undefined {
  return position === undefined ? undefined : { file: position.file, line: position.line, column: position.column };
}
