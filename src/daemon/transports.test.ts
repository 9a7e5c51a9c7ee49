import { expect, it } from "vitest";
import { checkWires, daemonAddressText, parseDaemonAddress } from "./transports.ts";

it("takes an address without a wire as one of HTTP, and writes it as it was given", () => {
  expect(parseDaemonAddress("unix:/run/a+b.sock")).toEqual({ kind: "unix", path: "/run/a+b.sock", wire: "http" });
  expect(parseDaemonAddress("http+localhost:80")).toEqual({ kind: "tcp", host: "127.0.0.1", port: 80, wire: "http" });
  expect(daemonAddressText(parseDaemonAddress("127.0.0.1:80"))).toBe("127.0.0.1:80");
});

it("refuses a wire that neither the program nor a plugin has, by its name", () => {
  const listen = [parseDaemonAddress("smoke+unix:/run/a.sock")];
  const refusal = { reason: "UsageInvalid", message: expect.stringContaining("no wire 'smoke'; available: http") };
  expect(() => checkWires(listen, new Map())).toThrow(expect.objectContaining(refusal));
  expect(() => checkWires(listen, new Map([["smoke", {}]]))).not.toThrow();
});

it("keeps the wire of a plugin to this machine", () => {
  expect(() => parseDaemonAddress("smoke+0.0.0.0:80")).toThrow(expect.objectContaining({ reason: "UsageInvalid" }));
  expect(() => parseDaemonAddress("smoke+example.com:80")).toThrow("only on this machine");
});
