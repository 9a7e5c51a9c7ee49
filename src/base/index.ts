/** Pure building blocks that everything stands on: ports as interfaces, ULIDs, middleware composition, text. No effects. */
export { normalHost } from "./allowed-domains.ts";
export { assertNever } from "./assert-never.ts";
export { boundHost, isBoundTo } from "./bound-hosts.ts";
export { type Cache, programCaches, textBytes } from "./cache-budget.ts";
export { canonicalHash, canonicalJson } from "./canonical-json.ts";
export { compose, type Handler, type Middleware } from "./compose.ts";
export { createConcealer } from "./concealer.ts";
export { counted } from "./counted.ts";
export {
  beginningOf,
  CUT_LOOK_CHARS,
  cutAtBlank,
  cutMiddle,
  cutMiddleBytes,
  endOf,
  withoutCutEnd,
  withoutCutStart,
} from "./cut-text.ts";
export { defined } from "./defined.ts";
export { diskTrouble, diskTroubleText } from "./disk-trouble.ts";
export { createDomainList, type DomainList, isDomainEntry } from "./domain-list.ts";
export { EffectError, type EffectReason } from "./effect-error.ts";
export { fileError, fileErrorText } from "./file-error.ts";
export { foldedForms } from "./folded-forms.ts";
export { jsonIn } from "./json-in.ts";
export { type JunitSuite, type JunitTest, junitXml } from "./junit-xml.ts";
export { type DiffLine, diffLines, withContext } from "./line-diff.ts";
export {
  type Memory,
  type MemoryContent,
  type MemoryDraft,
  type MemoryLabel,
  type MemoryOrigin,
  type MemoryPort,
  type MemoryScope,
  type MemoryShelf,
  type MemoryStore,
  type MemoryTier,
  type MemoryType,
  memoryScopes,
  memoryTiers,
  memoryTypes,
  type OwnScope,
  ownScopes,
} from "./memory-port.ts";
export { memoryText } from "./memory-text.ts";
export type { ModelPort, ModelQuestion, ModelQuestionBlock, ModelQuestionMessage, ModelReply } from "./model-port.ts";
export { nearestName } from "./nearest-name.ts";
export { objectSchema } from "./object-schema.ts";
export { once } from "./once.ts";
export { type PaintName, paint } from "./paint.ts";
export { foldedSegments } from "./path-segments.ts";
export type {
  Clock,
  Confinement,
  DirectoryEntry,
  EffectPorts,
  FileInfo,
  FilePort,
  ProcessExit,
  ProcessInput,
  ProcessPort,
  ProcessSpec,
  ProgramFacts,
  Random,
  WebPort,
  WebPost,
  WebRequest,
  WebResponse,
} from "./ports.ts";
export { isDeeper, isRecord } from "./record.ts";
export {
  hasMarker,
  MARKER_CLOSES,
  MARKER_MAX_KIND_CHARS,
  MARKER_OPENS,
  markerPattern,
  redactionMarker,
} from "./redaction-marker.ts";
export { BOX_EXTRA_BYTES, BOX_KEY_BYTES, openBox, sealBox } from "./sealed-box.ts";
export {
  createFormTest,
  createHeadTest,
  createKnownSecrets,
  type FingerprintedForm,
  fingerprintSecret,
  HEAD_CHARS,
  type SecretFingerprint,
} from "./secret-fingerprint.ts";
export { isSearchable, type SecretForm, secretForms } from "./secret-forms.ts";
export { SECRET_PREFIX } from "./secret-variables.ts";
export { createSerial } from "./serial.ts";
export {
  GET_PROMPT_TOOL,
  noServers,
  promptReference,
  READ_RESOURCE_TOOL,
  RESOURCES_TOOL,
  resourceReference,
  SAMPLE_TOOL,
  type ServerAnswer,
  type ServerAsk,
  type ServerCall,
  type ServerCompletion,
  type ServerPort,
  type ServerPrompt,
  type ServerPromptRequest,
  type ServerRead,
  type ServerReply,
  type ServerResource,
  serverToolName,
} from "./server-port.ts";
export { matchStars } from "./star-match.ts";
export { protectedNames, protectedPatterns, type Steering, steeringFile } from "./steering-files.ts";
export { errnoOf, ifThere, messageOf } from "./thrown.ts";
export { createUlidFactory, type UlidFactory, ulidFromDigest } from "./ulid.ts";
export { visibleJson, visibleLine, visibleLines, visibleProse, visibleRow, visibleUnits } from "./visible-text.ts";
export { withinTime } from "./within-time.ts";
export { wordSet } from "./word-set.ts";
