/** The environment a child process gets: a short allowlist, so that no key of ours is ever in it. */

const INHERITED = new Set(["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TERM", "TMPDIR"]);
const SECRET_NAME = /^HARNESS_|_(KEY|TOKEN|SECRET)$/i;
const DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";

/** `added` is what the caller sets on purpose; it wins over what is inherited, but cannot name one of our own. */
export function childEnvironment(
  source: Readonly<Record<string, string | undefined>>,
  added: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const environment: Record<string, string> = { PATH: DEFAULT_PATH };
  for (const [name, value] of Object.entries(source)) {
    if (value === undefined || SECRET_NAME.test(name)) continue;
    if (INHERITED.has(name) || name.startsWith("LC_")) environment[name] = value;
  }
  for (const [name, value] of Object.entries(added)) {
    if (!/^HARNESS_/i.test(name)) environment[name] = value;
  }
  return environment;
}
