/** The project of a folder as a session gets it: real loader, real scripts, every file trusted. */
import { join } from "node:path";
import { createProjectLoader, trustsAll } from "#artifacts";
import type { HarnessOptions } from "#program";
import { createScriptChecker } from "#script";
import { createBuiltinTools } from "#tools";
import { createSystemClock } from "#world";

export const openProjects = projectsUnder();

/** The project of a folder, below the policy in a file of that folder; every problem of one that does not load. */
export function projectsUnder(adminPolicy?: string): NonNullable<HarnessOptions["projects"]> {
  return (root) => openBelow(root, adminPolicy === undefined ? {} : { adminPolicy: join(root, adminPolicy) });
}

async function openBelow(root: string, admin: { readonly adminPolicy?: string }) {
  const knownTools = createBuiltinTools(createSystemClock())
    .tools()
    .map(({ name }) => name);
  const checker = createScriptChecker();
  const loader = await createProjectLoader({ root, checker, knownTools, trust: trustsAll, ...admin });
  const { project, problems } = loader.load();
  if (project === undefined) throw new Error(problems.map(({ message }) => message).join("\n"));
  return { loader, project };
}
