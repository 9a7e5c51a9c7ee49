/** Who has a session open for writing: one process. */
import { LEASE_MS } from "#world";

export { createOwner, isAlive, LEASE_MS } from "#world";

/** A renewal has to be synced with the events; this often is enough to stay within the lease. */
export const RENEW_MS = LEASE_MS / 4;
