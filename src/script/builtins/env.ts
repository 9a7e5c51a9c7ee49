/** `env(key)`: a variable of the environment, of those on the list. */
import { textOf } from "../arguments.ts";
import { row } from "./definition.ts";

/** Never given, whatever the list says: our own variables, and what looks like a credential. */
const WITHHELD = /^HARNESS_|KEY|TOKEN|SECRET|PASSW|CREDENTIAL|COOKIE|AUTH/i;

export const env = row(
  "env(key)",
  "string",
  "The environment variable, or an empty string. Credentials and the variables of Harness itself count as unset; for credentials use `secrets.get`.",
).runs((args, call) => {
  const name = textOf(args, "key");
  return WITHHELD.test(name) ? "" : (call.services.env(name) ?? "");
});
