import { describe, expect, it } from "vitest";
import { ApprovalId, CallId, ClientId, LogId, SessionId, TokenId, TurnId } from "./ids.ts";
import { createIdMint } from "./mint.ts";

const ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
const kinds = {
  sess: SessionId,
  log: LogId,
  call: CallId,
  tok: TokenId,
  cli: ClientId,
  turn: TurnId,
  appr: ApprovalId,
};

describe.each(Object.entries(kinds))("%s ids", (prefix, kind) => {
  it("are the prefix and a ULID", () => {
    expect(kind.from(ULID)).toBe(`${prefix}_${ULID}`);
    expect(kind.is(`${prefix}_${ULID}`)).toBe(true);
  });

  it.each([
    ULID,
    `${prefix}_`,
    `${prefix}_${ULID.toLowerCase()}`,
    `${prefix}_${ULID}0`,
    `${prefix}_${ULID.slice(1)}`,
    `${prefix}_${ULID.slice(1)}U`,
    ` ${prefix}_${ULID}`,
    `${prefix}_${ULID}\n`,
    `other_${ULID}`,
  ])("are not %j", (text) => {
    expect(kind.is(text)).toBe(false);
  });
});

it("are minted each with its own prefix", () => {
  let made = 0;
  const mint = createIdMint(() => String(++made).padStart(26, "0"));
  const ids = [mint.session(), mint.log(), mint.call(), mint.token(), mint.client(), mint.turn(), mint.approval()];
  expect(ids).toEqual(Object.keys(kinds).map((prefix, index) => `${prefix}_${String(index + 1).padStart(26, "0")}`));
});
