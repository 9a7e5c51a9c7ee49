/** Files that people write, as typed and checked values. */

export { DEFAULT_VERIFY_RETRIES } from "./agent-table.ts";
export { applyProject, contextInForce } from "./apply-project.ts";
export { artifactTables } from "./artifact-tables.ts";
export { changeServers, type ServerChange, writtenServers } from "./change-servers.ts";
export { expandCommand } from "./command-prompt.ts";
export { adminKeys } from "./config-table.ts";
export { type ContextSource, contextSources } from "./context-sources.ts";
export { type ContextText, contextTexts, instructionTexts } from "./context-texts.ts";
export { domainLists } from "./domain-lists.ts";
export type { Assertion, AssertionType, PlacedAssertion } from "./eval-assertions.ts";
export { loadEvalReader } from "./eval-reader.ts";
export { type EvalCase, evalTables, type SetupFile } from "./eval-table.ts";
export { type FieldParser, loadFieldParser } from "./field-parser.ts";
export { readFileContent } from "./file-content.ts";
export { fileKinds, isOptionalKind, type OptionalPlaces, optionalKinds } from "./file-kinds.ts";
export { splitFrontmatter } from "./frontmatter.ts";
export { canonicalEvent, hookEventAliases, hookEvents, hookPayloads } from "./hook-events.ts";
export { inHookOrder, withAddedHooks } from "./hook-order.ts";
export type { DeclaredServer, McpConnection, McpServer, PinnedFile } from "./mcp-server.ts";
export { isServerAddress, isWorkspaceFolder } from "./mcp-table.ts";
export { globFault, globMatches } from "./name-glob.ts";
export { isBareProject, rootTools } from "./offered-tools.ts";
export { type CommandContent, optionalFiles } from "./optional-file.ts";
export { nestedFolders, notEnabledFiles } from "./optional-look.ts";
export { type OwnSkills, type SkillOrigin, withOwnSkills } from "./own-skill.ts";
export { isProfileName } from "./profile-name.ts";
export { loadProfileParser } from "./profile-parser.ts";
export type { Profile } from "./profile-table.ts";
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
  type ProfileFiles,
  type ProfileInForce,
  type ProfileScope,
  type RetentionSettings,
  type Settings,
  type TimeoutSettings,
} from "./settings.ts";
export { isAboutTool, makeShellHook, type ShellHook, type ShellHookEvent } from "./shell-hook.ts";
export { findSkills, listedSkills, type Skill, skillLine, skillList, skillsOf } from "./skills.ts";
export { tighterBudgets } from "./tiers.ts";
export { toolVisible } from "./tools-policy.ts";
export { type LoadedConfig, parseUserConfig } from "./user-config.ts";
export { REQUEST_VERIFIER_NAME, verifierOf, verifierTool } from "./verifier.ts";
export { loadMemoryFormat, loadSkillReader, loadWordParsers, type MemoryFormat } from "./word-parsers.ts";
