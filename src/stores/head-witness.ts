/**
 * The newest known head of a log, kept a second time where no copy of the folders reaches: in the keychain of the system. It shows that
 * the log and the state folder were put back to older copies together. Written when a writer leaves; read only when somebody asks.
 */
import type { SessionId } from "#protocol";
import type { HeadReading, KnownHead } from "./known-heads.ts";

/** A small text under a name, outside of every folder of ours. */
export interface HeadWitness {
  /** Undefined when it worked, else why it did not. */
  store(name: string, text: string): Promise<string | undefined>;
  /** Undefined where there is none, or it cannot be asked. */
  lookup(name: string): Promise<string | undefined>;
  remove(name: string): Promise<void>;
}

export interface WitnessedHead {
  /** Asks the witness; from then on `newer` knows what it said. */
  consult(): Promise<void>;
  /** Of what a file says and what the witness said of the session, the later one. */
  newer(session: SessionId, reading: HeadReading): HeadReading;
  session(): SessionId | undefined;
  testify(head: KnownHead): Promise<void>;
  /** A person deleted the session, or took its log as it is. */
  withdraw(session: SessionId): Promise<void>;
}

export interface WitnessOptions {
  readonly witness: HeadWitness;
  /** Of the log. */
  readonly name: string;
  readonly seal: (head: KnownHead) => string;
  /** Undefined when this machine did not seal it for this log. */
  readonly open: (text: string) => KnownHead | undefined;
  /** What the state folder has. */
  readonly read: (session: SessionId) => HeadReading;
  onProblem(why: string): void;
}

export function createWitnessedHead({ witness, name, seal, open, read, onProblem }: WitnessOptions): WitnessedHead {
  let said: KnownHead | undefined;

  async function consult(): Promise<void> {
    const text = await witness.lookup(name);
    said = text === undefined ? undefined : open(text);
  }

  function newer(session: SessionId, reading: HeadReading): HeadReading {
    if (said?.session !== session || reading.kind === "tampered") return reading;
    const isOlder = reading.kind === "none" || reading.head.event < said.event;
    return isOlder ? { kind: "known", head: said } : reading;
  }

  return {
    consult,
    newer,
    session: () => said?.session,
    async testify(head) {
      await consult();
      if (said !== undefined && said.session !== head.session) {
        const reading = read(said.session);
        // It stays until a person accepts what is there now.
        if (newer(said.session, reading) !== reading) return onProblem(`${said.session} is newer there than here`);
      }
      const problem = await witness.store(name, seal(head));
      if (problem !== undefined) onProblem(problem);
    },
    async withdraw(session) {
      await consult();
      if (said?.session !== session) return;
      said = undefined;
      await witness.remove(name);
    },
  };
}

/** For a log whose heads are in the state folder alone. */
export const NO_WITNESS: WitnessedHead = {
  consult: async () => undefined,
  newer: (_, reading) => reading,
  session: () => undefined,
  testify: async () => undefined,
  withdraw: async () => undefined,
};
