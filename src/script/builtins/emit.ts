/** `emit(name, payload)`: an event of the project's own, for the record and for hooks on it. */
import { textOf } from "../arguments.ts";
import { jsonData } from "../json-data.ts";
import { type FunctionRow, scripts } from "./definition.ts";

const CUSTOM_EVENT = /^custom\.[a-z0-9_.]{1,100}$/;

export const emit: FunctionRow = {
  name: "emit",
  params: "name, payload?=None",
  audience: scripts,
  returns: "None",
  meaning: "Publishes `custom.<name>`; hooks on that event are asked afterwards. The prefix may be left out.",
  run(args, call) {
    const written = textOf(args, "name");
    const name = written.startsWith("custom.") ? written : `custom.${written}`;
    if (!CUSTOM_EVENT.test(name)) {
      throw new Error(`${JSON.stringify(written)} is no name for an event: want custom. and a-z, 0-9, _ or .`);
    }
    call.emit(name, jsonData(args.payload));
    return null;
  },
};
