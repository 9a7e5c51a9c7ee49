/** The MCP SDK, loaded with the first server that is connected: importing it holds up everything else for 0.1 s and more. */
import { once } from "#base";

export const loadSdk = once(() => import("@modelcontextprotocol/client"));
