/** Tool middleware that decides, bounds and guards; the gate that hands out effects. */
export { createGate } from "./gate.ts";
export { createLedger } from "./ledger.ts";
export { createOutputLimit } from "./output-limit.ts";
export { createPermission, type Permission } from "./permission.ts";
export { parseRule } from "./rules.ts";
export { createTimeLimit } from "./time-limit.ts";
export { createValidation } from "./validation.ts";
