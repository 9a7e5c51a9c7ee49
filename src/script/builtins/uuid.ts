/** `uuid`: identifiers of RFC 9562. */
import { type ModuleRow, scripts } from "./definition.ts";

export const uuid: ModuleRow = {
  name: "uuid",
  meaning: "Identifiers",
  audience: scripts,
  functions: [
    {
      name: "v4",
      params: "",
      returns: "string",
      meaning: "A random UUID.",
      run: (_args, call) => uuidText(call.services.random.bytes(16), 4),
    },
    {
      name: "v7",
      params: "",
      returns: "string",
      meaning: "A UUID that begins with the time, so that later ones sort after.",
      run(_args, call) {
        const bytes = call.services.random.bytes(16);
        new DataView(bytes.buffer, bytes.byteOffset).setBigUint64(0, BigInt(call.services.clock.now()) << 16n);
        bytes.set(call.services.random.bytes(2), 6);
        return uuidText(bytes, 7);
      },
    },
  ],
};

function uuidText(bytes: Uint8Array, version: number): string {
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | (version << 4);
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return Buffer.from(bytes)
    .toString("hex")
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
