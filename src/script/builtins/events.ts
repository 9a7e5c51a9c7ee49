/** `events.emit`: `emit` as a function of a module. */
import { type ModuleRow, scripts } from "./definition.ts";
import { emit } from "./emit.ts";

export const events: ModuleRow = {
  name: "events",
  meaning: "Events of the project's own",
  audience: scripts,
  functions: [{ ...emit, meaning: "The same as `emit`." }],
};
