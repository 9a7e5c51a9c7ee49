/** What the program cannot begin with, and what it says then. */
import { expect, test } from "vitest";
import { createCliHome, finish, runCli, startCli } from "../fakes/cli-process.ts";

const OFFLINE = ["--model", "scripted:offline", "--store", "memory"];

test("without a home folder it says what to set", async () => {
  const home = createCliHome();
  const { HOME: _, XDG_DATA_HOME: _data, XDG_CONFIG_HOME: _config, XDG_CACHE_HOME: _cache, ...env } = home.env;
  for (const args of [
    ["run", "hi", ...OFFLINE],
    ["sessions", "list"],
  ]) {
    const { code, err } = await runCli({ ...home, env }, args);
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining("ConfigInvalid: neither XDG_") });
    expect(err).toContain("set HOME");
  }
});

test.each([
  ["bytes that are not UTF-8", Buffer.from([0x50, 0x4b, 0x03, 0x04, 0xff, 0xfe])],
  ["text with NUL bytes", Buffer.from("h\0i\0", "latin1")],
])("%s on standard input are refused with a hint", async (_name, bytes) => {
  for (const args of [["run"], ["deploy"], ["serve", "--source", "stdin"]]) {
    const child = startCli(createCliHome(), [...args, ...OFFLINE]);
    child.stdin.end(bytes);
    const { code, err } = await finish(child);
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining("standard input is binary") });
    expect(err).toContain("iconv");
  }
});
