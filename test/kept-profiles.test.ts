/** A session whose profile is gone, broken or another one is resumed with the version that it had, and never with fewer rules. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { branchOf } from "#program";
import type { Event } from "#protocol";
import { createKeptProfiles } from "../src/program/kept-profiles.ts";
import { createInProcessCli } from "./fakes/in-process-cli.ts";
import { createProfiledProgram } from "./fakes/profiled-program.ts";

const USER = "../.config/harness/profiles";
const DENY = '[permissions]\ndeny = ["Write"]\n';
const FILES = {
  [`${USER}/strict.toml`]: `tool_packs = ["fs"]\n${DENY}`,
  [`${USER}/named.toml`]: 'permission_presets = ["mine"]\n',
  "../.config/harness/presets/mine.toml": 'deny = ["Write"]\n',
  ".harness/profiles/shop.toml": DENY,
  // A decoy for the time when there is no profile of the user with that name.
  ".harness/profiles/strict.toml": 'prompt_header = "Anything goes."\n',
};

async function resumed(profile: string, change: (path: (file: string) => string) => void) {
  const made = await createProfiledProgram({ files: FILES, flags: { allow: ["Write"] } });
  const session = await made.open({ profile });
  expect(await made.harness.control.retire(session)).toBe(true);
  change((file) => join(made.cli.workspace, file));
  return { ...made, session };
}

const outcomes = (events: readonly Event[]) =>
  events.flatMap((event) => (event.kind === "ToolResult" ? [event.payload.outcome] : []));
const notices = (events: readonly Event[]) =>
  events.flatMap((event) => (event.kind === "Error" && !event.payload.terminal ? [event.payload.message] : []));

describe("a resumed session keeps the rules of its profile", () => {
  test.each<[string, string, (path: (file: string) => string) => void, RegExp]>([
    ["the file is gone", "named", (path) => rmSync(path(`${USER}/named.toml`)), /there is no profile 'named'/],
    ["its preset is gone", "named", (path) => rmSync(path("../.config/harness/presets/mine.toml")), /names 'mine'/],
    [
      "it is broken",
      "strict",
      (path) => writeFileSync(path(`${USER}/strict.toml`), "tool_packs = 1"),
      /strict\.toml:1/,
    ],
    ["one of the project has its name", "strict", (path) => rmSync(path(`${USER}/strict.toml`)), /is now another one/],
    ["that of the project is gone", "shop", (path) => rmSync(path(".harness/profiles/shop.toml")), /no profile 'shop'/],
  ])("when %s", async (_case, profile, change, message) => {
    const { open, turn, session } = await resumed(profile, change);
    await open({ resume: session });
    const events = await turn(session, "write");
    expect(outcomes(events)).toEqual(["denied"]);
    expect(notices(events)).toEqual([expect.stringMatching(message)]);
    expect(notices(events)[0]).toContain(`This session keeps the profile '${profile}'`);
    // Once said is enough, and a new session does not get what is gone.
    expect(notices(await turn(session, "hello"))).toEqual([]);
    if (!/another one/.test(String(message))) {
      await expect(open({ profile })).rejects.toMatchObject({ reason: "ConfigInvalid" });
    }
  });

  test("also in a branch of it", async () => {
    const { open, turn, session, cli, harness } = await resumed("named", () => undefined);
    await open({ resume: session });
    await turn(session, "hello");
    const { session: branch } = await branchOf(harness.archive, session, cli.clock, undefined);
    rmSync(join(cli.workspace, `${USER}/named.toml`));
    await open({ resume: branch });
    expect(outcomes(await turn(branch, "write"))).toEqual(["denied"]);
  });

  test("a sound file on disk counts, as before", async () => {
    const { open, turn, session } = await resumed("strict", (path) => writeFileSync(path(`${USER}/strict.toml`), ""));
    await open({ resume: session });
    const events = await turn(session, "write");
    expect([outcomes(events), notices(events)]).toEqual([["ok"], []]);
  });

  test.each([
    ["was sealed for another session", (files: readonly string[]) => readFileSync(files[1] ?? "")],
    ["was altered", (files: readonly string[]) => Buffer.concat([readFileSync(files[0] ?? ""), Buffer.from("x")])],
  ])("one that %s is not used", async (_case, forged) => {
    const { open, session, cli } = await resumed("strict", () => undefined);
    await open({ profile: "named" });
    rmSync(join(cli.workspace, `${USER}/strict.toml`));
    rmSync(join(cli.workspace, ".harness/profiles/strict.toml"));
    const folder = join(cli.workspace, "../.local/state/harness/profiles");
    const files = readdirSync(folder)
      .toSorted()
      .map((file) => join(folder, file));
    expect(files[0]).toContain(session);
    expect(readFileSync(files[0] ?? "", "utf8")).not.toContain("Write");
    writeFileSync(files[0] ?? "", forged(files));
    await expect(open({ resume: session })).rejects.toMatchObject({ reason: "ConfigInvalid" });
  });

  test("what a person denied is not used", async () => {
    const { open, session, cli } = await resumed("shop", () => undefined);
    cli.put(".harness/profiles/shop.toml", `${DENY}# more\n`);
    const denier = createInProcessCli(cli.env, "d");
    await denier.run("ack", "--dir", cli.workspace);
    await expect(open({ resume: session })).rejects.toThrow("was denied");
  });
});

test("the profiles of the newest 500 sessions are kept, also under another key", async () => {
  const { cli, open } = await createProfiledProgram({ files: FILES });
  const kept = createKeptProfiles(cli.env);
  const files = { text: DENY, presets: [] };
  const profile = { name: "strict", scope: "user", source: "strict.toml", sets: [], files } as const;
  const session = await open({ profile: "strict" });
  for (let at = 0; at < 501; at++) kept.keep(session.replace(/.{4}$/, String(at + 1000)) as typeof session, profile);
  expect(kept.all()).toHaveLength(500);
  expect(await cli.run("sessions", "rekey")).toMatchObject({ code: 0 });
  expect(createKeptProfiles(cli.env).all()).toHaveLength(500);
  expect(kept.all()).toEqual([]);
});
