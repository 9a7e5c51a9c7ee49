/** What somebody chose for this run: flags of the command line, or the same from another program. */
import type { StoreKindName } from "#stores";

export interface RunFlags {
  readonly model?: string;
  readonly config?: string;
  /** A name, or the path of a file. */
  readonly profile?: string;
  /** `--framework`: the profile of that name. */
  readonly framework?: boolean;
  readonly cwd?: string;
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  readonly strictPermissions?: boolean;
  readonly autoApprove?: boolean;
  readonly maxSteps?: number;
  readonly sandbox?: "auto" | "required" | "off";
  readonly store: StoreKindName;
  readonly undo?: "on" | "off";
  readonly allowedDomain?: readonly string[];
  readonly allowProjectHooks?: boolean;
  readonly set?: ContextValues;
  /** A lock file whose files are accepted, and no others. */
  readonly lockfile?: string;
  /** False: `--no-project`. */
  readonly project?: boolean;
}

/** Values of the run context, which conditions and scripts see as `ctx`. */
export type ContextValues = Readonly<Record<string, string | number | boolean | null>>;
