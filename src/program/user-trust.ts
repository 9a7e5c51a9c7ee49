/** What the user of this machine has agreed to, project by project. */
import { homedir, userInfo } from "node:os";
import { paint, visibleLine } from "#base";
import { harnessPaths } from "#stores/keys";
import { createProjectTrust, type ProjectTrust } from "#trust";
import type { ProjectPorts } from "./ports.ts";
import { trustDirectory, trustKeySource } from "./project-keys.ts";

/** What this user acked on this machine. */
export function userTrust(ports: ProjectPorts, root: string): ProjectTrust {
  const { env, clock, terminal } = ports;
  return createProjectTrust({
    root,
    directory: trustDirectory(env),
    keys: trustKeySource(env),
    by: userName(),
    now: () => clock.now(),
    ownFolders: [harnessPaths(env).configDir],
    onPromoted: (file, change) => {
      const what = `${visibleLine(file)} changed (${change.class}) in your own configuration folder; the change is in effect.`;
      terminal.err(`${paint(terminal, "dim", what)}\n`);
    },
  });
}

/** For the record alone. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return homedir(); // an account without a name, as in some containers
  }
}
