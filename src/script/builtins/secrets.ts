/** `secrets`: credentials that a script can use without ever seeing them. */
import { encodeUtf8, Opaque } from "#starlark";
import { textOf } from "../arguments.ts";
import { module, row, scripts } from "./definition.ts";

const SECRET_NAME = /^[A-Za-z_][A-Za-z0-9_.-]{0,99}$/;

export const secrets = module("secrets", "Credentials, used but never seen", scripts, [
  row(
    "get(name)",
    "secret",
    "A value of type `secret`. It shows as `‹secret NAME›` everywhere; text may be added to it. It can be a header of `http`, " +
      "a variable in `env` of `exec.run`, or the key of `crypto.hmac_*`. Fails when there is none of that name.",
    { effect: true },
  ).runs(async (args, call) => {
    const name = textOf(args, "name");
    if (!SECRET_NAME.test(name)) throw new Error(`${JSON.stringify(name)} is not a name for a secret`);
    const value = await call.services.secret(name);
    if (value === undefined || value === "") throw new Error(`there is no secret ${name}`);
    return new Opaque("secret", encodeUtf8(`‹secret ${name}›`), encodeUtf8(value), true);
  }),
]);
