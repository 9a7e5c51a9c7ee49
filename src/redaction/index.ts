/** Redaction: one implementation for what is stored, shown and sent. */
export { literalsFromEnvironment } from "./environment.ts";
export { createRedactionGateway, STRUCTURAL_FIELDS } from "./gateway.ts";
export type { LiteralSecret } from "./literals.ts";
export { loadRedactor } from "./load.ts";
export {
  createRedactor,
  type RedactionCounts,
  type RedactionFinding,
  type RedactionPolicy,
  type RedactionStatus,
  type Redactor,
  type RedactorOptions,
} from "./redactor.ts";
export { ruleFamilies } from "./rule-table.ts";
export { STREAM_WINDOW_CHARS, type StreamRedactor } from "./stream-redactor.ts";
export { compileUserPatterns, type UserPattern, type UserPatterns } from "./user-patterns.ts";
