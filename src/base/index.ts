/** Ground everything stands on: ports to the world, ULIDs, middleware composition. */
export { assertNever } from "./assert-never.ts";
export { compose, type Handler, type Middleware } from "./compose.ts";
export {
  type Clock,
  type DirectoryEntry,
  EffectError,
  type EffectPorts,
  type EffectReason,
  type FileInfo,
  type FilePort,
  type ProcessExit,
  type ProcessPort,
  type ProcessSpec,
  type Random,
  type WebPort,
  type WebRequest,
  type WebResponse,
} from "./ports.ts";
export { createUlidFactory, type UlidFactory, ulidFromDigest } from "./ulid.ts";
