/** The variables that `secrets.get` looks into: `secrets.get("DEPLOY")` is HARNESS_SECRET_DEPLOY. They hold secrets, whatever their values look like. */
export const SECRET_PREFIX = "HARNESS_SECRET_";
