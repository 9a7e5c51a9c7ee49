/**
 * Puts the files of a folder to the person at this terminal before a session of the daemon works there: the daemon has no terminal to
 * ask on, and refuses a project that nobody has agreed to. What they ack holds for the daemon of the same user.
 */
import { Command } from "commander";
import type { Client } from "#client";
import { daemonFacts } from "#daemon";
import { loadConfig, mayHaveProject, projectPlace, type RunFlags, userFlags, withProfile } from "#program";
import type { CliPorts } from "./cli-ports.ts";
import { reviewsAt } from "./file-review.ts";
import { addRunFlags } from "./flags.ts";

export interface ReviewedFolder {
  readonly dir: string;
  /** Of the session; undefined: that of the daemon. */
  readonly profile: string | undefined;
  /** The daemon is that of this user, and no other one that was named. */
  readonly isOwnDaemon: boolean;
}

/** On another machine the folder is another one. */
export async function reviewForDaemon(
  ports: CliPorts,
  { address }: Pick<Client, "address">,
  { dir, profile, isOwnDaemon }: ReviewedFolder,
): Promise<void> {
  if (!ports.terminal.interactive || !isLocal({ address }) || !mayHaveProject(ports, { dir })) return;
  const { flags, cwd } = isOwnDaemon ? startedWith(ports) : { flags: {}, cwd: ports.cwd };
  // Nobody is asked where the daemon ignores projects, or somebody else's answers count.
  if (flags.project === false || flags.lockfile !== undefined) return;
  const { openTrustedProject } = await import("#program/trusted-project");
  const { review, reviewServers } = reviewsAt(ports);
  const there = { ...ports, cwd };
  const place = projectPlace({ ...flags, cwd: dir });
  const named = profile === undefined ? flags : { ...flags, profile, framework: false };
  // What is wrong with the profile is the daemon's to say; it may have one that has no name here.
  const profiled = await withProfile(there, place, named).catch(() => place);
  const { loaded, servers } = await openTrustedProject(ports, profiled, { review });
  if (loaded.project === undefined || servers === undefined) return;
  await reviewServers(loaded.project, (await loadConfig(there, flags.config)).settings, servers);
}

/** The flags that the daemon was started with, without a project file of its own folder, and the folder in which they were written. */
function startedWith(ports: CliPorts): { readonly flags: Partial<RunFlags>; readonly cwd: string } {
  const facts = daemonFacts(ports);
  if (facts === undefined) return { flags: {}, cwd: ports.cwd };
  const command = addRunFlags(new Command()).allowUnknownOption().allowExcessArguments().exitOverride();
  return { flags: userFlags(command.parse([...facts.args], { from: "user" }).opts<RunFlags>()), cwd: facts.cwd };
}

/** The daemon is on this machine, and of the same user. */
export function isLocal({ address }: Pick<Client, "address">): boolean {
  return address.startsWith("unix:");
}
