/** Branded, self-describing identifiers: a prefix and a ULID. Free of zod so that the hot path can use it. */

export type Branded<Prefix extends string> = `${Prefix}_${string}` & { readonly __id: Prefix };

export interface IdKind<Prefix extends string> {
  readonly prefix: Prefix;
  readonly pattern: RegExp;
  is(text: string): text is Branded<Prefix>;
  /** `ulid` must be a ULID; ids are made only where one is minted or rewritten. */
  from(ulid: string): Branded<Prefix>;
}

export function defineId<Prefix extends string>(prefix: Prefix): IdKind<Prefix> {
  const pattern = new RegExp(`^${prefix}_[0-9A-HJKMNP-TV-Z]{26}$`);
  return {
    prefix,
    pattern,
    is: (text): text is Branded<Prefix> => pattern.test(text),
    // The brand exists only in the type system; the prefix makes the template type true.
    from: (ulid) => `${prefix}_${ulid}` as Branded<Prefix>,
  };
}

export const SessionId = defineId("sess");
export const LogId = defineId("log");
export const CallId = defineId("call");
export const TokenId = defineId("tok");
export const ClientId = defineId("cli");
export const TurnId = defineId("turn");
export const ApprovalId = defineId("appr");
export const JobId = defineId("job");

export type SessionId = Branded<"sess">;
export type LogId = Branded<"log">;
export type CallId = Branded<"call">;
export type TokenId = Branded<"tok">;
export type ClientId = Branded<"cli">;
export type TurnId = Branded<"turn">;
export type ApprovalId = Branded<"appr">;
export type JobId = Branded<"job">;
