/** Makes new ids. One mint per process, so that ids of one kind sort in the order they were made. */
import type { UlidFactory } from "#base";
import { ApprovalId, CallId, ClientId, JobId, LogId, SessionId, TokenId, TurnId } from "./ids.ts";

export interface IdMint {
  session(): SessionId;
  log(): LogId;
  call(): CallId;
  token(): TokenId;
  client(): ClientId;
  turn(): TurnId;
  approval(): ApprovalId;
  job(): JobId;
}

export function createIdMint(ulid: UlidFactory): IdMint {
  return {
    session: () => SessionId.from(ulid()),
    log: () => LogId.from(ulid()),
    call: () => CallId.from(ulid()),
    token: () => TokenId.from(ulid()),
    client: () => ClientId.from(ulid()),
    turn: () => TurnId.from(ulid()),
    approval: () => ApprovalId.from(ulid()),
    job: () => JobId.from(ulid()),
  };
}
