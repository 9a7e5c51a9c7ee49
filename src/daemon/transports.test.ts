import { expect, it } from "vitest";
import { daemonAddressText, parseDaemonAddress } from "./transports.ts";

it("takes an address without a wire as one of HTTP, and writes it as it was given", () => {
  expect(parseDaemonAddress("unix:/run/a+b.sock")).toEqual({ kind: "unix", path: "/run/a+b.sock", wire: "http" });
  expect(parseDaemonAddress("http+localhost:80")).toEqual({ kind: "tcp", host: "127.0.0.1", port: 80, wire: "http" });
  expect(daemonAddressText(parseDaemonAddress("127.0.0.1:80"))).toBe("127.0.0.1:80");
});

it("refuses a wire that is not in the table, by its name", () => {
  const refusal = { reason: "UsageInvalid", message: expect.stringContaining("no wire 'smoke'; available: http") };
  expect(() => parseDaemonAddress("smoke+unix:/run/a.sock")).toThrow(expect.objectContaining(refusal));
});
