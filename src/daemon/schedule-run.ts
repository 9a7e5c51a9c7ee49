/** One run of a schedule: a session of its own with the limits of the schedule, one turn in it. */
import { defined, messageOf } from "#base";
import type { Control } from "#control";
import { ReasonError, type SessionId } from "#protocol";
import type { Schedule } from "#schedules";
import type { RunEnd } from "./schedule-watch.ts";

/**
 * Never rejects: `refused` is one that could not begin, such as in a folder whose files nobody has acked. Questions wait for people who
 * attach, as long as `permission_timeout` says. The session ends with the turn, unless somebody is attached to it then.
 */
export async function runScheduled(
  control: Control,
  schedule: Schedule,
  onSession: (session: SessionId) => Promise<void>,
): Promise<RunEnd> {
  const { name, prompt, folder, model, profile, plan, maxCostUsd, maxSteps } = schedule;
  // A person has written the prompt and chosen everything about the run.
  const client = control.connect({ identityClass: "human", interactive: false, name: `schedule ${name}` });
  let session: SessionId | undefined;
  try {
    session = await control.openUnattended(
      { kind: "CreateSession", working_dir: folder, ...defined({ model, profile }) },
      { limits: defined({ maxCostUsd, maxSteps }) },
    );
    await onSession(session);
    if (plan === true) await client.submit({ kind: "EnterPlanMode", session });
    const { done } = await client.submit({ kind: "SendInput", session, content: [{ type: "text", text: prompt }] });
    const { outcome, reason, message } = await done;
    const isDone = outcome === "answered" || outcome === "yielded";
    return {
      session,
      state: isDone ? "done" : "failed",
      ...(isDone ? {} : { message: textOf(reason ?? outcome, message) }),
    };
  } catch (error) {
    const message = error instanceof ReasonError ? textOf(error.reason, error.message) : messageOf(error);
    return { state: session === undefined ? "refused" : "failed", message, ...defined({ session }) };
  } finally {
    client.disconnect();
    // One that cannot be let go ends when the daemon does.
    if (session !== undefined) await control.retire(session).catch(() => false);
  }
}

const MAX_MESSAGE_CHARS = 500;

function textOf(reason: string, message: string | undefined): string {
  return (message === undefined ? reason : `${reason}: ${message}`).slice(0, MAX_MESSAGE_CHARS);
}
