/** The keychain of the system as the keeper of the machine key. It is asked while this process waits: nothing can begin without the key. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ReasonError } from "#protocol";
import { type KeychainCommand, keychainProgram, keychainSession, lookedUp, runAndWait } from "#world";
import type { KeyKeychain } from "./key-files.ts";

const KEYCHAIN_VARIABLE = "HARNESS_KEYCHAIN";
const PROVIDER = "machine-key";
/** A person may have to type the password of the keychain. */
const TIMEOUT_MS = 60_000;
const MAX_OUTPUT_BYTES = 64 * 1024;
const MAX_KNOWN = 8;

/** Keys by the names of their entries. A name is never used for another key, so that one is asked for once in a process. */
const known = new Map<string, Buffer>();

/** Undefined on a system whose keychain we do not know. */
export function machineKeychain(env: Readonly<Record<string, string | undefined>>): KeyKeychain | undefined {
  const calls = keychainProgram(process.platform);
  if (calls === undefined) return undefined;
  const run = (command: KeychainCommand) =>
    runAndWait({ ...command, env, added: keychainSession(env), timeoutMs: TIMEOUT_MS, maxBytes: MAX_OUTPUT_BYTES });
  const item = (name: string) => ({ provider: PROVIDER, name });
  return {
    name: `the keychain (${calls.program})`,
    get takesNew() {
      return isWanted(env[KEYCHAIN_VARIABLE]) && hasSession(env);
    },
    store(name, key) {
      const result = run(calls.store(item(name), Buffer.from(key.toString("hex"))));
      return "problem" in result ? result.problem : undefined;
    },
    lookup(name) {
      const remembered = known.get(name);
      if (remembered !== undefined) return remembered;
      const result = run(calls.lookup(item(name)));
      if ("problem" in result) return result.problem;
      const text = lookedUp(result.out)?.toString("utf8") ?? "";
      if (text === "") return "it has no such entry";
      if (!/^([0-9a-f]{2})+$/.test(text)) return "its entry is not a key";
      const key = Buffer.from(text, "hex");
      if (known.size >= MAX_KNOWN) known.clear();
      known.set(name, key);
      return key;
    },
    remove(name) {
      known.delete(name);
      run(calls.remove(item(name))); // what stays opens nothing any more
    },
  };
}

function isWanted(value: string | undefined): boolean {
  if (value === undefined || value === "" || value === "on") return true;
  if (value === "off") return false;
  throw new ReasonError("KeyInvalid", `Set ${KEYCHAIN_VARIABLE} to on or off.`);
}

/** Without one `secret-tool` has nobody to talk to; on macOS there is always a keychain. */
function hasSession({
  DBUS_SESSION_BUS_ADDRESS: bus,
  XDG_RUNTIME_DIR: runtime,
}: Readonly<Record<string, string | undefined>>): boolean {
  if (process.platform !== "linux") return true;
  return bus !== undefined || (runtime !== undefined && existsSync(join(runtime, "bus")));
}
