/** The OAuth part of the MCP SDK, loaded in the credential helper with the first login or refresh. */
import { once } from "#base";

export const loadOAuth = once(async () => {
  // It warns in the words of authorization servers, and nobody reads what the helper prints.
  console.warn = () => undefined;
  return import("@modelcontextprotocol/client");
});

export type OAuthSdk = Awaited<ReturnType<typeof loadOAuth>>;
