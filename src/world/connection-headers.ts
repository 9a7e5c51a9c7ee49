/** Headers that two programs on one connection say to each other: never passed on, and never a caller's to set. */
export const CONNECTION_HEADERS: readonly string[] =
  "connection expect keep-alive proxy-connection te trailer transfer-encoding upgrade".split(" ");
