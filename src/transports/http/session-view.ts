/** A session as a route shows it, to whoever may read it. */
import { ReasonError, type SessionId, type SessionInfo, sessionInfoOf } from "#protocol";
import type { RouteCall } from "./route.ts";

/** Throws TokenScope or SessionNotFound. */
export async function metaOf({ backend, principal }: RouteCall, session: SessionId) {
  principal.mayRead(session);
  const meta = await backend.store.get(session);
  if (meta === undefined) throw new ReasonError("SessionNotFound", { session });
  return meta;
}

/** As `metaOf`, with what it does now. */
export async function viewOf(call: RouteCall, session: SessionId): Promise<SessionInfo> {
  return sessionInfoOf(await metaOf(call, session), call.openSessions().get(session));
}
