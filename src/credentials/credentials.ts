/**
 * Which key a model is called with, and the way to the helper that has it: keys of the environment first, then stored ones.
 * What the engine gets is a name, never a key.
 */

import { createHash } from "node:crypto";
import { join } from "node:path";
import { type Clock, counted, createKnownSecrets, defined } from "#base";
import type { CredentialPort, CredentialRef, CredentialRoute, CredentialStoreStatus, CredentialWish } from "#engine";
import { type Reason, ReasonError, reasonText } from "#protocol";
import { CREDENTIAL_FILE } from "./credential-file.ts";
import { type CredentialInfo, type CredentialStore, createCredentialStore } from "./credential-store.ts";
import type { EnvironmentKeys } from "./environment-keys.ts";
import { HELPER_HEADERS } from "./helper-frames.ts";
import { createHelperSupervisor, type HelperStatus, type SupervisorOptions } from "./helper-supervisor.ts";
import { type LoginResult, type LoginWish, loginThroughHelper } from "./login.ts";
import { LOGIN_PROVIDER } from "./login-record.ts";

/** The port, held by the helper: starts it with the first key that is needed. */
export interface HelperCredentials extends CredentialPort {
  /** Begins to start the helper. Throws CredentialStoreFailed when the file of stored ones cannot be used. */
  find(wish: CredentialWish): CredentialRef | undefined;
  /** Logs in at an MCP server, in the helper. Rejects with a ReasonError, and leaves nothing behind then. */
  login(wish: LoginWish): Promise<LoginResult>;
  /** Deletes what a login has left; false when there is none. */
  logout(server: string): Promise<boolean>;
  /** Told each time that the helper has died. */
  onCrash(listener: (status: HelperStatus) => void): void;
  /**
   * Resolves when listeners were told of every key that there is; to CredentialStoreFailed or CredentialHelperFailed when some cannot
   * be told. Starts the helper where there is one: a key is a secret also while no model needs it, and this process is not where it
   * stays.
   */
  told(): Promise<ReasonError | undefined>;
  /** Begins to start the helper when one of these variables is set: what is sure to be needed need not be waited for. */
  prepare(variables: readonly string[]): void;
  /** Starts the helper, if it was not, and resolves to what is wrong with it; undefined when nothing is. */
  check(): Promise<string | undefined>;
  status(): HelperStatus;
}

export interface HelperCredentialsOptions extends Pick<SupervisorOptions, "file" | "env" | "every"> {
  readonly clock: Clock;
  readonly keys: EnvironmentKeys;
  /** Variables of the environment that hold keys, whether or not a model needs them now. */
  readonly keyVariables: readonly string[];
  /** Where the file of stored credentials is. */
  readonly directory: () => string;
  readonly storeKey: () => Uint8Array;
}

const DEFAULT_NAME = "default";

export function createHelperCredentials(options: HelperCredentialsOptions): HelperCredentials {
  const { keys, clock } = options;
  let stored: readonly CredentialInfo[] | undefined;
  const secrets = createKnownSecrets();
  const found = new Set<string>();
  const crashListeners: ((status: HelperStatus) => void)[] = [];
  const supervisor = createHelperSupervisor({
    file: options.file,
    env: options.env,
    clock,
    onSecret: secrets.add,
    onCrash: (status) => {
      for (const listener of crashListeners) listener(status);
    },
    store: () => ({ path: join(options.directory(), CREDENTIAL_FILE), key: options.storeKey() }),
    ...defined({ every: options.every }),
  });

  /** With the first key that is needed all of them go: what the helper has, this process does not. */
  function handOver(also: readonly string[] = []): void {
    supervisor.start();
    for (const variable of [...options.keyVariables, ...also]) {
      const secret = keys.take(variable);
      if (secret !== undefined) supervisor.give(variable, secret);
    }
  }

  const store = (): CredentialStore =>
    createCredentialStore({ directory: options.directory(), clock, key: options.storeKey });
  const list = (): readonly CredentialInfo[] => {
    stored ??= store().list();
    return stored;
  };

  /** Whether the file has some, or why that cannot be told. One that has no place has none. */
  function holdsStored(): boolean | ReasonError {
    try {
      return list().some(({ place }) => place === "file");
    } catch (error) {
      return error instanceof ReasonError && error.reason === "CredentialStoreFailed" ? error : false;
    }
  }

  /** Why the helper has not told of all that it was given. */
  function untoldByHelper(): ReasonError | undefined {
    const { state, detail = "it ended" } = supervisor.status();
    if (state === "failed") return new ReasonError("CredentialHelperFailed", detail);
    const untold = supervisor.untold();
    return untold === undefined ? undefined : new ReasonError("CredentialStoreFailed", untold);
  }

  /** Read each time: another process may have logged in or out. Where there is no place for a file, nobody has. */
  function storedLogin(name: string, url: string): string | undefined {
    const { origin } = new URL(url);
    const isIt = (entry: CredentialInfo): boolean => entry.provider === LOGIN_PROVIDER && entry.name === name;
    try {
      const logins = store().list();
      return logins.find((entry) => isIt(entry) && entry.hosts[0] === origin)?.created;
    } catch (error) {
      if (error instanceof ReasonError && error.reason === "CredentialStoreFailed") throw error;
      return undefined;
    }
  }

  async function route(id: string, url: URL): Promise<CredentialRoute> {
    const way = await supervisor.route(id);
    switch (way.type) {
      case "ready":
        return {
          type: "socket",
          socketPath: way.socketPath,
          headers: {
            [HELPER_HEADERS.pass]: way.pass,
            [HELPER_HEADERS.credential]: id,
            [HELPER_HEADERS.url]: url.href,
          },
        };
      case "refused":
        return way.problem === "wrong-key"
          ? refused("KeyInvalid", way.detail)
          : refused("CredentialStoreFailed", way.detail);
      case "failed":
        return refused("CredentialHelperFailed", way.detail);
    }
  }

  function fromEnvironment({ variables, auth, hosts }: CredentialWish): CredentialRef | undefined {
    const variable = variables.find((name) => keys.has(name));
    if (variable === undefined) return undefined;
    handOver([variable]);
    const id = [variable, auth, ...hosts].join(" ");
    supervisor.bind({ type: "bind", id, auth, from: { secret: variable, hosts } });
    return { id, source: variable, hosts };
  }

  function fromStore({ provider, name, auth, variables, origin }: CredentialWish): CredentialRef | undefined {
    const own = list().filter((entry) => entry.provider === provider && (name === undefined || entry.name === name));
    const here = own.filter(({ hosts }) => hosts.includes(origin));
    // One that needs no key gets none that was not meant for its address.
    const candidates = here.length > 0 || (variables.length === 0 && name === undefined) ? here : own;
    const chosen = candidates.find((entry) => entry.name === DEFAULT_NAME) ?? candidates[0];
    if (chosen === undefined) return undefined;
    handOver();
    const full = `${chosen.provider}/${chosen.name}`;
    const id = `${full} ${auth}`;
    supervisor.bind({ type: "bind", id, auth, from: { provider: chosen.provider, name: chosen.name } });
    return { id, source: `the credential ${full}`, hosts: chosen.hosts };
  }

  return {
    login: (wish) => loginThroughHelper(wish, { handOver, has: keys.has, bind: supervisor.bind, route }),
    logout: async (name) => (await store().remove({ provider: LOGIN_PROVIDER, name })).removed,
    reach({ name, url, headers, mayBePrivate, usesLogin }) {
      const variables = Object.values(headers).map(({ variable }) => variable);
      const missing = variables.find((variable) => !keys.has(variable));
      if (missing !== undefined) return { missing };
      handOver(variables);
      const secretHeaders = Object.entries(headers).map(([header, { variable, prefix }]) => {
        return [header, { secret: variable, prefix }] as const;
      });
      const login = usesLogin ? storedLogin(name, url) : undefined;
      const remote = { name, url, mayBePrivate, headers: Object.fromEntries(secretHeaders), ...defined({ login }) };
      const id = `mcp ${JSON.stringify(remote)}`;
      supervisor.bind({ type: "remote", id: idOf(id), ...remote });
      found.add(idOf(id));
      return { id: idOf(id), source: `the MCP server ${name}`, hosts: [new URL(url).origin] };
    },
    howToBring: (provider) => `store one with harness creds add ${provider}`,
    holds: ({ provider, variables }) =>
      variables.some((name) => keys.has(name)) || list().some((entry) => entry.provider === provider),
    find(wish) {
      const credential = (wish.name === undefined ? fromEnvironment(wish) : undefined) ?? fromStore(wish);
      if (credential !== undefined) found.add(credential.id);
      return credential;
    },
    onSecret: secrets.listen,
    onCrash: (listener) => void crashListeners.push(listener),
    async told() {
      const stored = holdsStored();
      const problem = typeof stored === "boolean" ? undefined : stored;
      if (stored !== true && !options.keyVariables.some((name) => keys.has(name))) return problem;
      handOver();
      if (stored === true) supervisor.openStore();
      await supervisor.told([...found]);
      return problem ?? untoldByHelper();
    },
    async check() {
      handOver();
      const route = await supervisor.route(undefined);
      return route.type === "ready" ? undefined : route.detail;
    },

    route: ({ id }, url) => route(id, url),
    prepare(variables) {
      if (!variables.some((name) => keys.has(name))) return;
      handOver();
      // Asked now, it is answered when the first turn begins.
      void supervisor.told([]);
    },
    status: () => supervisor.status(),
    storeStatus: () => storeStatus(store),
    close: () => supervisor.close(),
  };
}

/** Read each time: another process may have stored a key. Where there is no place for a file, nothing is stored. */
function storeStatus(store: () => CredentialStore): CredentialStoreStatus {
  try {
    const count = store().list().length;
    return count === 0 ? { state: "none" } : { state: "ok", detail: `${counted(count, "credential")} stored` };
  } catch (error) {
    if (!(error instanceof ReasonError)) throw error;
    return error.reason === "CredentialStoreFailed" ? { state: "failing", detail: error.message } : { state: "none" };
  }
}

/** Goes into a header, so it must be short and plain. */
function idOf(what: string): string {
  return `mcp-${createHash("sha256").update(what).digest("hex").slice(0, 32)}`;
}

function refused(reason: Reason, detail: string): CredentialRoute {
  return { type: "refused", reason, message: reasonText(reason, { detail }) };
}
