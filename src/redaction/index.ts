/** Redaction: one implementation for what is stored, shown and sent. */
export { literalsFromEnvironment } from "./environment.ts";
export { createRedactionGateway } from "./gateway.ts";
export { loadRedactor } from "./load.ts";
export { createRedactor, type Redactor } from "./redactor.ts";
export { ruleFamilies } from "./rule-table.ts";
export { STREAM_WINDOW_CHARS, type StreamRedactor } from "./stream-redactor.ts";
export type { UserPattern } from "./user-patterns.ts";
