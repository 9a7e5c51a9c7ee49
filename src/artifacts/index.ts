/** Files that people write, as typed and checked values. */

export { DEFAULT_VERIFY_RETRIES } from "./agent-table.ts";
export { applyProject } from "./apply-project.ts";
export { artifactTables } from "./artifact-tables.ts";
export { changeServers, type ServerChange } from "./change-servers.ts";
export { adminKeys } from "./config-table.ts";
export { contextTexts } from "./context-texts.ts";
export { domainLists } from "./domain-lists.ts";
export type { Assertion, AssertionType, PlacedAssertion } from "./eval-assertions.ts";
export { loadEvalReader } from "./eval-reader.ts";
export { type EvalCase, evalTables, type SetupFile } from "./eval-table.ts";
export { type FieldParser, loadFieldParser } from "./field-parser.ts";
export { readFileContent } from "./file-content.ts";
export { splitFrontmatter } from "./frontmatter.ts";
export { canonicalEvent, hookEventAliases, hookEvents, hookPayloads } from "./hook-events.ts";
export { inHookOrder, withAddedHooks } from "./hook-order.ts";
export type { McpConnection, McpServer } from "./mcp-server.ts";
export { globFault, globMatches } from "./name-glob.ts";
export { isBareProject, rootTools, type ToolGroups } from "./offered-tools.ts";
export type * from "./project.ts";
export {
  createProjectLoader,
  loadProject,
  type ProjectLoader,
  type ProjectLoaderOptions,
  type ProjectSurvey,
  surveyProject,
  trustsAll,
} from "./project-loader.ts";
export { addAllowRule, addAllowRules } from "./promote-rule.ts";
export {
  defaultSettings,
  defaultTimeouts,
  type LabelRule,
  type LogSettings,
  type ModelSettings,
  type PermissionRule,
  type PluginPin,
  type RetentionSettings,
  type Settings,
  type TimeoutSettings,
} from "./settings.ts";
export { tighterBudgets } from "./tiers.ts";
export { toolVisible } from "./tools-policy.ts";
export { type LoadedConfig, parseUserConfig } from "./user-config.ts";
export { REQUEST_VERIFIER_NAME, verifierOf, verifierTool } from "./verifier.ts";
