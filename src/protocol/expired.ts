/** What stands in an event where its content was, once that has passed its time. The event itself stays. */
export const EXPIRED_CONTENT = "«ttl-expired»";
