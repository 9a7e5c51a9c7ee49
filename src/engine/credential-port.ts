/** How a provider reaches a key without seeing it: it names a credential, and somebody else adds it to the request. */
import type { SecretFingerprint } from "#base";
import type { Reason, ReasonError } from "#protocol";

export interface CredentialWish {
  readonly provider: string;
  /** Variables that may hold the key, in order. */
  readonly variables: readonly string[];
  /** Of a stored credential; then no variable counts. Default: the one for this address, `default` first. */
  readonly name?: string;
  readonly auth: "x-api-key" | "bearer";
  /** Where a key from the environment may be sent, as origins. */
  readonly hosts: readonly string[];
  /** Where it is to be sent. */
  readonly origin: string;
}

/** A key by its name. */
export interface CredentialRef {
  readonly id: string;
  /** For messages: a variable, or a stored credential by its name. */
  readonly source: string;
  /** Where it may be sent. */
  readonly hosts: readonly string[];
}

export type CredentialRoute =
  /** Through a process that adds the key. */
  | { readonly type: "socket"; readonly socketPath: string; readonly headers: Readonly<Record<string, string>> }
  /** From this process, where its owner has the key anyway. `secret` is taken out of what comes back. */
  | { readonly type: "held"; readonly headers: Readonly<Record<string, string>>; readonly secret: Uint8Array }
  | { readonly type: "refused"; readonly reason: Reason; readonly message: string };

/** A server on the network that the user's configuration names, and the secrets that go there. */
export interface RemoteWish {
  readonly name: string;
  readonly url: string;
  /** By header: the variable that holds its value, and what is put before it. */
  readonly headers: Readonly<Record<string, { readonly variable: string; readonly prefix: string }>>;
  /** Its host may be at a loopback or private address. */
  readonly mayBePrivate: boolean;
  /** Whether a stored login at this server counts; one that brings a token of its own uses none. */
  readonly usesLogin: boolean;
}

export interface CredentialPort {
  /** For requests to such a server: none of them goes to another origin. Names the variable that is not set. */
  reach(wish: RemoteWish): CredentialRef | { readonly missing: string };
  /** Whether there is a key for this provider. */
  holds(wish: Pick<CredentialWish, "provider" | "variables">): boolean;
  find(wish: CredentialWish): CredentialRef | undefined;
  /** How somebody brings a key of the provider, besides its variable: "store one with …". */
  howToBring(provider: string): string;
  /** Asked for each request, after `find`. Never rejects. */
  route(credential: CredentialRef, url: URL): Promise<CredentialRoute>;
  /** Told of every key that is used, so that it can be recognised where it turns up: those there are, then those to come. */
  onSecret(listener: (fingerprint: SecretFingerprint) => void): void;
  /** Resolves when the listeners were told of every key that was found so far; to why not, when somebody cannot tell. */
  told(): Promise<ReasonError | undefined>;
  status(): CredentialStatus;
  /** How the file of stored keys is, as it is now. */
  storeStatus(): CredentialStoreStatus;
  /** Ends what it has started. */
  close(): void;
}

/** How whoever holds the keys is doing. */
export interface CredentialStatus {
  readonly state: "not started" | "starting" | "running" | "failed" | "closed" | "in this process";
  readonly pid?: number;
  readonly crashes: number;
  readonly detail?: string;
}

export interface CredentialStoreStatus {
  /** `none`: nothing is stored on this machine. */
  readonly state: "ok" | "none" | "failing";
  readonly detail?: string;
}
