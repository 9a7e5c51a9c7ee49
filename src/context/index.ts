/** Request middleware, one file each: what the model is told besides the user's words. */
export { createHistory } from "./history.ts";
export { createIdentity, type IdentityOptions } from "./identity.ts";
