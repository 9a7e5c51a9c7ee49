/** `harness creds`: keys of providers, stored, listed, deleted and tried. A secret goes in and never comes out. */

import { boundHost, defined, paint, visibleLine } from "#base";
import {
  type CredentialInfo,
  type CredentialStore,
  createCredentialStore,
  createKeychain,
  credentialKey,
  findVendor,
  isCredentialName,
  MAX_BOUND_HOSTS,
  MAX_SECRET_BYTES,
  vendors,
} from "#program";
import { ReasonError } from "#protocol";
import { harnessPaths, type MachineKey, machineKeySource } from "#stores/keys";
import { createProcesses } from "#world";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";
import { formatTable } from "./table.ts";

const DEFAULT_NAME = "default";

export interface CredsAddFlags {
  readonly host?: readonly string[];
  readonly keychain?: boolean;
  readonly json?: boolean;
}

interface NewKey {
  readonly provider: string;
  readonly name: string | undefined;
  /** The secret, when it was written on the command line. */
  readonly argument: string | undefined;
}

export async function credsAddCommand(
  ports: CliPorts,
  { provider, name = DEFAULT_NAME, argument }: NewKey,
  flags: CredsAddFlags,
): Promise<ExitCode> {
  const { terminal } = ports;
  checkName(provider, name);
  const hosts = hostsFor(provider, flags.host ?? []);
  if (argument !== undefined) {
    warn(
      ports,
      "a secret on the command line stays in the shell's history, and every process can see it. Use standard input or the prompt instead.",
    );
  }
  const secret = Buffer.from(argument ?? (await readSecret(ports, `${provider}/${name}`)));
  checkSecret(secret);
  let key: MachineKey | undefined;
  const store = userCredentialStore(ports, (known) => {
    key = known;
  });
  const added = await store.add({ provider, name, hosts, secret, useKeychain: flags.keychain === true });
  secret.fill(0);
  if (added.keychainProblem !== undefined) {
    warn(
      ports,
      `the keychain cannot be used (${visibleLine(added.keychainProblem)}); the key is in ${store.path} instead.`,
    );
  }
  if (added.credential.place === "file" && key !== undefined && key.source.startsWith("/")) {
    warn(
      ports,
      `the key is encrypted with ${key.source}, so anybody who can read both files can decrypt it. To keep them apart, use HARNESS_PASSPHRASE, HARNESS_MACHINE_KEY or --keychain.`,
    );
  }
  if (flags.json) terminal.out(`${JSON.stringify({ ...shown(added.credential), replaced: added.replaced })}\n`);
  else {
    const where = added.credential.place === "file" ? store.path : "the keychain";
    terminal.out(
      `${added.replaced ? "Replaced" : "Stored"} ${provider}/${name} in ${where}, for ${hosts.join(", ")}.\n`,
    );
  }
  return 0;
}

export async function credsListCommand(ports: CliPorts, flags: { readonly json?: boolean }): Promise<ExitCode> {
  const { terminal } = ports;
  const credentials = userCredentialStore(ports, () => undefined).list();
  if (flags.json) {
    terminal.out(`${JSON.stringify(credentials.map(shown))}\n`);
    return 0;
  }
  if (credentials.length === 0) {
    terminal.out("No key is stored. Store one with: harness creds add <provider>\n");
    return 0;
  }
  const rows = credentials.map(({ provider, name, place, fingerprint, created, hosts }) => {
    return [provider, name, place, fingerprint, created.slice(0, 10), hosts.join(" ")];
  });
  terminal.out(formatTable(["PROVIDER", "NAME", "STORAGE", "FINGERPRINT", "STORED", "HOSTS"], rows, terminal.columns));
  return 0;
}

export async function credsDeleteCommand(
  ports: CliPorts,
  provider: string,
  name: string = DEFAULT_NAME,
  flags: { readonly json?: boolean },
): Promise<ExitCode> {
  const store = userCredentialStore(ports, () => undefined);
  const { removed, keychainProblem } = await store.remove({ provider, name });
  if (!removed) {
    throw new ReasonError("UsageInvalid", `there is no credential ${provider}/${name}; see harness creds list`);
  }
  if (keychainProblem !== undefined) {
    warn(ports, `the keychain still has its secret (${visibleLine(keychainProblem)}); remove it there.`);
  }
  ports.terminal.out(
    flags.json ? `${JSON.stringify({ provider, name, deleted: true })}\n` : `Deleted ${provider}/${name}.\n`,
  );
  return 0;
}

/** `source` is told where the key of the store comes from, when it is worked out. */
function userCredentialStore({ env, clock, cwd }: CliPorts, source: (key: MachineKey) => void): CredentialStore {
  const machineKey = machineKeySource(env);
  const keychain = createKeychain({
    platform: process.platform,
    env,
    processes: createProcesses({ root: cwd, env }),
  });
  return createCredentialStore({
    directory: harnessPaths(env).configDir,
    clock,
    key() {
      const known = machineKey();
      source(known);
      return credentialKey(known);
    },
    ...defined({ keychain }),
  });
}

function checkName(provider: string, name: string): void {
  if (findVendor(provider) === undefined) {
    const known = vendors.map((vendor) => vendor.name).join(", ");
    throw new ReasonError("UsageInvalid", `there is no provider '${provider}'. Providers: ${known}.`);
  }
  if (!isCredentialName(name)) {
    const detail = `'${name}' is not a valid name: use at most 64 letters, digits, '.', '_' and '-', and not the secret itself`;
    throw new ReasonError("UsageInvalid", detail);
  }
}

/** Those that were named, else the provider's own. */
function hostsFor(provider: string, named: readonly string[]): string[] {
  const own = findVendor(provider)?.baseUrl;
  const texts = named.length > 0 ? named : own === undefined ? [] : [own];
  if (texts.length === 0) {
    const detail = `${provider} has no default address: use --host to say where the key may be sent`;
    throw new ReasonError("UsageInvalid", detail);
  }
  const hosts = texts.map((text) => {
    const host = boundHost(text);
    if (host === undefined) throw new ReasonError("UsageInvalid", `'${text}' is neither a host nor an address`);
    return host;
  });
  if (hosts.length > MAX_BOUND_HOSTS) throw new ReasonError("UsageInvalid", `more than ${MAX_BOUND_HOSTS} hosts`);
  return [...new Set(hosts)];
}

async function readSecret({ terminal }: CliPorts, what: string): Promise<string> {
  if (!terminal.interactive) return (await terminal.readAll(MAX_SECRET_BYTES)).trim();
  const typed = await terminal.readSecret(`Key for ${what} (not shown): `, new AbortController().signal);
  if (typed.kind !== "line")
    throw ReasonError.withMessage("Cancelled", `No key was typed for ${what}: nothing was stored.`);
  return typed.text.trim();
}

/** A header takes no control characters, and a secret with one was pasted wrong. */
function checkSecret(secret: Buffer): void {
  const isSound =
    secret.length > 0 && secret.length <= MAX_SECRET_BYTES && secret.every((byte) => byte > 0x20 && byte < 0x7f);
  if (isSound) return;
  const detail = secret.length === 0 ? "the key is empty" : "the key has invalid characters or is too long";
  throw new ReasonError("UsageInvalid", detail);
}

function warn({ terminal }: CliPorts, text: string): void {
  terminal.err(`${paint(terminal, "yellow", `warning: ${text}`)}\n`);
}

function shown({ provider, name, hosts, created, fingerprint, place }: CredentialInfo) {
  return { provider, name, place, fingerprint, created, hosts };
}
