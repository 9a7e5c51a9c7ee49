import { expect, it } from "vitest";
import { compose, type Middleware } from "./compose.ts";

/** Adds its name on the way in and on the way out. */
const named =
  (name: string): Middleware<string, string> =>
  async (input, next) =>
    `${await next(`${input}>${name}`)}<${name}`;

it("is the last handler when there is no middleware", async () => {
  expect(await compose<string, string>([], async (input) => `[${input}]`)("in")).toBe("[in]");
});

it("runs the first middleware outermost", async () => {
  const handler = compose([named("a"), named("b"), named("c")], async (input: string) => `[${input}]`);
  expect(await handler("in")).toBe("[in>a>b>c]<c<b<a");
});

it("stops where a middleware answers by itself", async () => {
  const handler = compose([named("a"), async () => "stop", named("c")], async () => "never");
  expect(await handler("in")).toBe("stop<a");
});

it("carries errors outwards, where a middleware may handle them", async () => {
  const rescue: Middleware<string, string> = (input, next) =>
    next(input).catch((error: Error) => `saved ${error.message}`);
  const broken = async (): Promise<string> => {
    throw new Error("broken");
  };
  await expect(compose([named("a")], broken)("in")).rejects.toThrow("broken");
  expect(await compose([rescue, named("a")], broken)("in")).toBe("saved broken");
});

it("refuses a second next() and does not repeat the effect", async () => {
  let effects = 0;
  const twice: Middleware<string, string> = async (input, next) => {
    await next(input);
    return next(input);
  };
  const handler = compose([named("a"), twice], async () => String(++effects));
  await expect(handler("in")).rejects.toThrow("a middleware called next() twice");
  expect(effects).toBe(1);
});

it("may be called again, also at the same time", async () => {
  const handler = compose([named("a")], async (input: string) => input);
  expect(await Promise.all([handler("1"), handler("2")])).toEqual(["1>a<a", "2>a<a"]);
});
