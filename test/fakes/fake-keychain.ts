/** A `secret-tool` that keeps its entries as files of a folder, for a home of `createCliHome`; with a file `locked` there it refuses. */
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CliHome } from "./cli-process.ts";

export interface FakeKeychain {
  /** The home with the keychain in its session. */
  readonly home: CliHome;
  /** Names of the entries. */
  entries(): readonly string[];
  lock(isLocked: boolean): void;
}

export function addKeychain(plain: CliHome): FakeKeychain {
  const { HOME = "", PATH = "" } = plain.env;
  const [bin, kept] = [join(HOME, "keychain-bin"), join(HOME, "keychain")];
  for (const folder of [bin, kept]) mkdirSync(folder);
  const locked = join(kept, "locked");
  const script = `#!/bin/sh
[ -e ${locked} ] && { echo 'the keychain is locked' >&2; exit 1; }
[ -n "$DBUS_SESSION_BUS_ADDRESS" ] || { echo 'no session' >&2; exit 1; }
action=$1
for last in "$@"; do :; done
case "$action" in
  store) cat > ${kept}/$last ;;
  lookup) cat ${kept}/$last 2>/dev/null || exit 1 ;;
  clear) rm -f ${kept}/$last ;;
esac
`;
  writeFileSync(join(bin, "secret-tool"), script, { mode: 0o755 });
  return {
    home: { ...plain, env: { ...plain.env, PATH: `${bin}:${PATH}`, DBUS_SESSION_BUS_ADDRESS: "unix:path=/none" } },
    entries: () => (existsSync(kept) ? readdirSync(kept).filter((name) => name !== "locked") : []),
    lock(isLocked) {
      if (isLocked) writeFileSync(locked, "");
      else rmSync(locked, { force: true });
    },
  };
}
