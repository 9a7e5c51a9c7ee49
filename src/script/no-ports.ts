/** Ports that refuse everything: for conditions and examples, which may have no effect at all. */
import { EffectError, type WebPort } from "#base";
import type { HookPorts } from "#engine";

function refused(): Promise<never> {
  return Promise.reject(new EffectError("AccessDenied", "a script cannot reach anything outside here"));
}

export const noWeb: WebPort = { get: refused, post: refused };

export const noProcesses: HookPorts["processes"] = { run: refused };

export const noFiles: HookPorts["files"] = {
  root: "/",
  locate: refused,
  stat: refused,
  read: refused,
  list: refused,
};
