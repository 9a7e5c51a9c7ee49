/** Who has a session open for writing: one process. */
export { createOwner, isAlive, LEASE_MS } from "#world";
