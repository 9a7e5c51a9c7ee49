/** `emit(name, payload)`: an event of the project's own, for the record and for hooks on it; `events.emit` is the same. */
import { textOf } from "../arguments.ts";
import { jsonData } from "../json-data.ts";
import { module, row, scripts } from "./definition.ts";

const CUSTOM_EVENT = /^custom\.[a-z0-9_.]{1,100}$/;

export const emit = row(
  "emit(name, payload?=None)",
  "None",
  "Publishes the event `custom.<name>`; hooks on that event run afterwards. The prefix `custom.` is optional.",
).runs((args, call) => {
  const written = textOf(args, "name");
  const name = written.startsWith("custom.") ? written : `custom.${written}`;
  if (!CUSTOM_EVENT.test(name)) {
    throw new Error(`${JSON.stringify(written)} is not a name for an event: want custom. and a-z, 0-9, _ or .`);
  }
  call.emit(name, jsonData(args.payload));
  return null;
});

export const events = module("events", "The project's own events", scripts, [
  { ...emit, meaning: "The same as `emit`." },
]);
