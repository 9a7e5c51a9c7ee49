/** What a person adds to the turn that runs: asked about, recorded, and read by the model at the next step. */
import { type ClientId, type InputBlock, ReasonError, reasonText, type SessionId } from "#protocol";
import type { EventBus } from "./bus.ts";
import type { ExpandMentions } from "./mentions.ts";
import type { SessionCore } from "./session-core.ts";
import { askAboutInput, publishContext } from "./turn-hooks.ts";

export function createSteer(parts: {
  readonly session: SessionId;
  readonly bus: EventBus;
  readonly hooks: Parameters<typeof askAboutInput>[0];
  readonly running: () => SessionCore["state"]["running"];
  readonly expandMentions: ExpandMentions | undefined;
}): (by: ClientId, content: readonly InputBlock[]) => Promise<void> {
  const { session, bus, hooks, running, expandMentions } = parts;
  return async (by, content) => {
    const target = running();
    const refuse = (): ReasonError => new ReasonError("NoTurnRunning", { session });
    if (target?.steering.step === undefined || target.abort.signal.aborted) throw refuse();
    const { turn, steering, abort } = target;
    const asked = await askAboutInput(hooks, { turn, originator: by, content, signal: abort.signal });
    if (asked.refused !== undefined) {
      throw ReasonError.withMessage("HookBlocked", asked.refused.message ?? reasonText("HookBlocked"));
    }
    // A hook may have taken its time.
    const { step } = steering;
    if (step === undefined || abort.signal.aborted) throw refuse();
    steering.tell();
    await bus.publish("TurnSteered", { turn, step, content: [...asked.content], by });
    const named = { turn, step, originator: by, content: asked.content, signal: abort.signal };
    const missing = await expandMentions?.(named);
    // The turn was not begun with it, and goes on.
    if (missing?.reason !== undefined) {
      const { reason, message = "" } = missing;
      await bus.publish("Error", { turn, reason, message, terminal: false });
    }
    await publishContext(bus, asked.context, turn);
  };
}
