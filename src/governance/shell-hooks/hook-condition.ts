/**
 * The `if` of a hook: a permission rule, as its author means it. Which calls it covers is read widely, as with a rule that denies: a
 * part of a compound command is enough, a file counts in any folder, and where it cannot be told, the hook runs.
 */
import { resolve } from "node:path";
import type { ShellHook } from "#artifacts";
import { ReasonError } from "#protocol";
import { canonicalName, isFileTool, namedPaths, pathNames } from "../known-tools.ts";
import { evaluateRules, namesTool, parseRule, type Rule } from "../rules.ts";
import { ownToolNames } from "./tool-vocabulary.ts";

export interface ConditionedCall {
  /** A canonical name. */
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly root: string;
}

export type Condition = (call: ConditionedCall) => boolean;

export function compileCondition({ condition, source }: Pick<ShellHook, "condition" | "source">): Condition {
  if (condition === undefined) return () => true;
  const [, name = condition, pattern = ""] = /^([^(]+)\((.*)\)\s*$/s.exec(condition.trim()) ?? [];
  // A rule for edits is one for everything that writes files.
  const tools = [...ownToolNames(name.trim()), ...(name.trim() === "Edit" ? ownToolNames("Write") : [])];
  const rules = tools.flatMap((tool) => ruleFor(tool, pattern.trim(), source));
  const isOneRule = rules.length === tools.length && !/\).*\(/.test(pattern);
  return ({ tool, args, root }) => {
    if (!isOneRule) return true;
    const subject = typeof args.url === "string" ? args.url : JSON.stringify(args);
    const call = {
      tool,
      label: tool,
      class: "mutating",
      args: { ...args, ...absolutePaths(tool, args, root) },
      subject,
    } as const;
    // A search shows files that it does not name.
    if (isFileTool(tool) && namedPaths(tool, args).length === 0) return rules.some((rule) => namesTool(rule, call));
    return evaluateRules(rules, call).effect !== "none";
  };
}

function absolutePaths(tool: string, args: ConditionedCall["args"], root: string): Record<string, string> {
  const paths = pathNames(tool).flatMap((name) => {
    const path = args[name];
    return typeof path === "string" ? [[name, resolve(root, path)] as const] : [];
  });
  return Object.fromEntries(paths);
}

/** Empty for what no rule can say. */
function ruleFor(tool: string, pattern: string, source: string): readonly Rule[] {
  const written = isFileTool(canonicalName(tool)) ? anywhere(pattern) : pattern;
  try {
    return [parseRule(written === "" ? tool : `${tool}(${written})`, "deny", source)];
  } catch (error) {
    if (error instanceof ReasonError) return [];
    throw error;
  }
}

/** As in a `.gitignore`, where `*.ts` is in any folder; what begins at a root or at home is looked for in any folder as well. */
function anywhere(pattern: string): string {
  if (pattern === "") return "";
  const bare = pattern.replace(/^(?:~|\.)?\/+/, "");
  return `**/${bare}${bare.endsWith("/") ? "**" : ""}`;
}
