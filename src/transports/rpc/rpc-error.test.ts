import { expect, test } from "vitest";
import { type Reason, ReasonError, reasons } from "#protocol";
import { rpcErrorOf } from "./rpc-error.ts";

const refused = (reason: Reason) => rpcErrorOf(new ReasonError(reason, "why"), (text) => text);

test.each(["NotAllowed", "TokenScope"] as const)("%s is a refusal, and not an error in here", (reason) => {
  expect(refused(reason)).toMatchObject({ code: -32006, data: { name: "NotAllowed", reason } });
});

test("every reason has a name for its code, and only failures in here are internal errors", () => {
  for (const reason of Object.keys(reasons) as Reason[]) {
    const { code, data } = refused(reason);
    expect([reason, data]).toEqual([reason, { name: expect.any(String), reason }]);
    const isInternal = (data as { readonly name: string }).name === "InternalError";
    expect([reason, isInternal]).toEqual([reason, code === -32603]);
  }
});
