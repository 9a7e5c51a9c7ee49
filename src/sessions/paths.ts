/** Where the program keeps its files, by the XDG base directory rules. Computes paths only; creates nothing. */
import { isAbsolute, join } from "node:path";

const APPLICATION = "harness";

export interface HarnessPaths {
  /** The session log: `$XDG_DATA_HOME/harness/sessions.db`. */
  readonly sessionsDb: string;
  readonly dataDir: string;
  readonly configDir: string;
  readonly stateDir: string;
}

/**
 * A pure function of the environment. An empty or relative XDG variable is ignored, as the XDG rules ask. Throws when a
 * default is needed and `HOME` is not an absolute path.
 */
export function harnessPaths(env: Readonly<Record<string, string | undefined>>): HarnessPaths {
  const base = (variable: string, fallback: string): string => {
    const given = env[variable];
    if (given !== undefined && isAbsolute(given)) return join(given, APPLICATION);
    return join(homeOf(env, variable), fallback, APPLICATION);
  };
  const dataDir = base("XDG_DATA_HOME", ".local/share");
  return {
    sessionsDb: join(dataDir, "sessions.db"),
    dataDir,
    configDir: base("XDG_CONFIG_HOME", ".config"),
    stateDir: base("XDG_STATE_HOME", ".local/state"),
  };
}

function homeOf(env: Readonly<Record<string, string | undefined>>, wanted: string): string {
  const home = env.HOME || env.USERPROFILE;
  if (home === undefined || !isAbsolute(home)) {
    throw new Error(`neither ${wanted} nor HOME is an absolute path; set one of them`);
  }
  return home;
}
