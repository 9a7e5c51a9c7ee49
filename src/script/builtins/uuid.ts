/** `uuid`: identifiers of RFC 9562. */
import { module, row, scripts } from "./definition.ts";

export const uuid = module("uuid", "Identifiers", scripts, [
  row("v4()", "string", "A random UUID.").runs((_args, call) => uuidText(call.services.random.bytes(16), 4)),
  row("v7()", "string", "A UUID that begins with the time, so that UUIDs sort by creation time.").runs(
    (_args, call) => {
      const bytes = call.services.random.bytes(16);
      new DataView(bytes.buffer, bytes.byteOffset).setBigUint64(0, BigInt(call.services.clock.now()) << 16n);
      bytes.set(call.services.random.bytes(2), 6);
      return uuidText(bytes, 7);
    },
  ),
]);

function uuidText(bytes: Uint8Array, version: number): string {
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | (version << 4);
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return Buffer.from(bytes)
    .toString("hex")
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
