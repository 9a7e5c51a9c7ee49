/** Walks over a parsed script: the scripts inside a word, and the variables whose value cannot be followed in it. */
import { forEachChild, type ParsedScript, type SyntaxNode } from "unbash";

/** The outermost scripts below a node: what its substitutions run. */
export function visitScripts(node: SyntaxNode): ParsedScript[] {
  const scripts: ParsedScript[] = [];
  const visit = (child: SyntaxNode): void => {
    if (child.type === "Script") scripts.push(child);
    else if (child.type !== "CompoundList") forEachChild(child, visit);
  };
  forEachChild(node, visit);
  return scripts;
}

/** Builtins that set variables in ways that are not followed. */
const SETTERS =
  /^(?:export|declare|typeset|local|readonly|unset|printf|mapfile|readarray|getopts|let|eval|source|\.|trap|read|select|wait)$/;

const EVERY_NAME = { has: () => true };

/** The variables that are set in more than one place; all of them where something may set one unseen. */
export function untrustedNames(script: ParsedScript): { has(name: string): boolean } {
  const seen = new Set<string>();
  const untrusted = new Set<string>();
  let all = false;
  const set = (name: string): void => {
    if (seen.has(name)) untrusted.add(name);
    seen.add(name);
  };
  const visit = (node: SyntaxNode): void => {
    if (node.type === "Assignment") set(node.name);
    if (node.type === "For" || node.type === "Select") set(node.name.value);
    if (node.type === "Function" || node.type === "ArithmeticFor" || node.type === "ArithmeticCommand") all = true;
    if (
      node.type === "ParameterExpansion" &&
      node.operation?.type === "Default" &&
      node.operation.operator.includes("=")
    ) {
      untrusted.add(node.parameter);
    }
    if (node.type === "Command" && /(?:^|\/)(?:builtin|command)$/.test(node.name?.value ?? "")) {
      // A setter behind it sets as well; which one it is, behind options and quotes, is not followed.
      if (node.args.some((word) => word.type !== "Word" || word.parts !== undefined || SETTERS.test(word.value)))
        all = true;
    }
    if (node.type === "Command" && SETTERS.test(node.name?.value ?? "")) {
      const words = node.args.map((word) =>
        word.type === "Word" && word.parts === undefined ? word.value : undefined,
      );
      const plainRead =
        node.name?.value === "read" && words.every((word) => word !== undefined && /^(?:-r|[A-Za-z_]\w*)$/.test(word));
      const plainPrint =
        node.name?.value === "printf" && node.args[0]?.type === "Word" && !/^-/.test(node.args[0].value);
      if (plainRead) for (const word of words) set(word ?? "");
      else if (!plainPrint) all = true;
    }
    forEachChild(node, visit);
  };
  visit(script);
  return all ? EVERY_NAME : untrusted;
}
