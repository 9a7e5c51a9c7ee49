/** Which profile a session has, and how one begins that continues another. */
import { isProfileName } from "#artifacts";
import { visibleLine } from "#base";
import type { ImportedTurns } from "#control";
import type { EventBus, SessionMeta } from "#engine";
import { ReasonError } from "#protocol";
import type { SessionDependencies } from "./dependencies.ts";
import type { AgentTree } from "./tree.ts";

/**
 * The profile of the session, where it is not that of the program. Rules, tools and instructions of a profile hold as long as its
 * session: a resume that names another one is refused.
 */
export function otherProfile(
  { settings, profiles }: SessionDependencies,
  asked: string | undefined,
  previous: SessionMeta | undefined,
): string | undefined {
  const own = previous?.profile;
  if (asked !== undefined && own !== undefined && asked !== own) {
    const detail = `the session ${previous?.id} has the profile '${visibleLine(own)}', so it is not resumed with '${visibleLine(asked).slice(0, 100)}'. Resume it without a profile; /profiles:NAME --in-place changes it`;
    throw new ReasonError("ConfigInvalid", detail);
  }
  const name = asked ?? own ?? settings.profile.name;
  if (name === settings.profile.name) return undefined;
  if (!isProfileName(name)) {
    // Whoever can name a file is at the command line of this program.
    const detail = `'${visibleLine(name).slice(0, 100)}' is not the name of a profile; a file is named with --profile PATH when a program starts`;
    throw new ReasonError("InvalidCommand", detail);
  }
  if (profiles !== undefined) return name;
  const detail = `this program has the profile '${settings.profile.name}' and no other, so not '${visibleLine(name).slice(0, 100)}'`;
  throw new ReasonError("InvalidCommand", detail);
}

/** The first turn reads the summary as content from outside; plan mode and labels hold from the beginning. */
export async function publishImport(
  bus: Pick<EventBus, "publish">,
  mode: AgentTree["mode"],
  { from, summary, labels, planMode }: ImportedTurns,
): Promise<void> {
  if (planMode) {
    mode.plan = true;
    await bus.publish("PlanModeChanged", { active: true });
  }
  if (summary === "") return;
  const content = [{ type: "text" as const, text: summary }];
  await bus.publish("ContextAdded", { origin: "session", what: from, content, labels: [...labels] });
}
