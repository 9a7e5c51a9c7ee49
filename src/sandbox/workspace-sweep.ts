/** What is looked at when a program in the workspace confinement has ended: names that nothing held, and repositories that it has begun. */
import type { WatchedName } from "./guarded-names.ts";
import { type Swept, sweptTogether } from "./held-back.ts";
import type { NameGuard } from "./name-guard.ts";
import { sweepGitFolder } from "./new-repository.ts";
import { submodulesOf } from "./repositories.ts";
import type { WorkspaceSurvey } from "./workspace-survey.ts";

/**
 * To be called before the program begins; what it gives is called once the program has ended and nothing is held for it. While one goes
 * on beside the turns it is called as well: what is held is left alone then.
 */
export function prepareSweep(
  root: string,
  survey: () => WorkspaceSurvey,
  guard: NameGuard,
): (watched: readonly WatchedName[]) => Swept {
  const repositories = [root, ...survey().repositories];
  const before = new Set(repositories.flatMap(submodulesOf));
  return (watched) => {
    const begun = repositories.flatMap(submodulesOf).filter((path) => !before.has(path));
    return sweptTogether([
      guard.sweep(watched),
      survey().sweepBegun(),
      ...begun.map((path) => sweepGitFolder(root, path)),
    ]);
  };
}
