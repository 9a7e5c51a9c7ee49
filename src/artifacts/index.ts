/** Files that people write, as typed and checked values. */
export type * from "./project.ts";
export { addAllowRule } from "./promote-rule.ts";
export {
  DEFAULT_MAX_STEPS,
  defaultSettings,
  type ModelSettings,
  type PermissionRule,
  type PriceSettings,
  type RateSettings,
  type RetentionSettings,
  type RetrySettings,
  type Settings,
} from "./settings.ts";
export { type LoadedConfig, parseUserConfig } from "./user-config.ts";
