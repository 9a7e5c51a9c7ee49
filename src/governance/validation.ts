/** Tool middleware: arguments that do not match the tool's schema never get further. Runs after anything that changes them. */
import { type CallResult, refusal, type Tool, type ToolMiddleware } from "#engine";
import { reasonText } from "#protocol";

/** Problems told to the model; more would only cost tokens. */
const MAX_PROBLEMS = 5;

interface SchemaCheck {
  validate(value: unknown): { valid: boolean; errors: { instanceLocation: string; keyword: string; error: string }[] };
}

export function createValidation(): ToolMiddleware {
  const checks = new WeakMap<Tool, SchemaCheck>();
  return async (call, next) => {
    const { tool, args } = call;
    if (tool.check !== undefined) {
      const problems = await tool.check(args);
      return problems.length === 0 ? next(call) : invalid(tool, problems.slice(0, MAX_PROBLEMS).join(" "));
    }
    let check = checks.get(tool);
    if (check === undefined) {
      const { Validator } = await import("@cfworker/json-schema");
      check = new Validator(tool.parameters, "2020-12", false);
      checks.set(tool, check);
    }
    const { valid, errors } = check.validate(args);
    return valid ? next(call) : invalid(tool, describeProblems(errors));
  };
}

function invalid(tool: Tool, detail: string): CallResult {
  return refusal("error", "InvalidArguments", reasonText("InvalidArguments", { tool: tool.name, detail }));
}

/** One line for each problem, without the summary lines that a nested keyword adds. */
function describeProblems(errors: readonly { instanceLocation: string; keyword: string; error: string }[]): string {
  const leaves = errors.filter(({ keyword }) => keyword !== "properties" && keyword !== "items" && keyword !== "false");
  const lines = (leaves.length > 0 ? leaves : errors).map(({ instanceLocation, error }) => {
    const at = instanceLocation.replace(/^#\/?/, "");
    return at === "" ? error : `${at}: ${error}`;
  });
  return lines.slice(0, MAX_PROBLEMS).join(" ");
}
