import { expect, test } from "vitest";
import { daemonPlace } from "./daemon-place.ts";

const ports = { env: { HOME: "/home/ann" }, cwd: "/work" };
const own = "/home/ann/.local/state/harness/control.token";

test.each([
  [{}, "unix:/home/ann/.local/share/harness/control.sock", own],
  [{ connect: "unix:/s" }, "unix:/s", own],
  [{ connect: "127.0.0.1:7000" }, "127.0.0.1:7000", own],
  [{ connect: "http://localhost:7000" }, "http://localhost:7000", own],
  [{ connect: "[::1]:7000" }, "[::1]:7000", own],
  [{ connect: "https://there.example", tokenFile: "t" }, "https://there.example", "/work/t"],
])("with %j it is %s, with the token in %s", (flags, address, tokenFile) => {
  expect(daemonPlace(ports, flags)).toEqual({ address, tokenFile });
});

test.each(["https://there.example", "there.example:7000", "https://127.0.0.1.there.example", "https://10.0.0.1:7000"])(
  "%s is another machine: the token of the daemon here is not for it",
  (connect) => {
    expect(() => daemonPlace(ports, { connect })).toThrow(/--token-file/);
    const given = { ...ports, env: { ...ports.env, HARNESS_TOKEN: "t" } };
    expect(daemonPlace(given, { connect })).toMatchObject({ address: connect });
  },
);
