/** Sessions of one program with different profiles: opened, resumed, continued under another one, and what holds when a file changes. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { EventPayload } from "#protocol";
import { createProfiledProgram, type ProfiledFiles, type ProfiledProgram } from "./fakes/profiled-program.ts";

const USER = "../.config/harness/profiles";
const STRICT = `${USER}/strict.toml`;
const FILES = {
  [STRICT]: 'prompt_header = "Be strict."\ntool_packs = ["fs"]\n[permissions]\ndeny = ["Write"]\n',
  [`${USER}/web.toml`]: 'tool_packs = ["web"]\n',
  ".harness/profiles/shop.toml": 'prompt_header = "You work on the shop."\n[permissions]\ndeny = ["Write"]\n',
};

const program = (more: Partial<ProfiledFiles> = {}): Promise<ProfiledProgram> =>
  createProfiledProgram({ files: FILES, ...more });

function results(events: Awaited<ReturnType<ProfiledProgram["turn"]>>): readonly EventPayload<"ToolResult">[] {
  return events.flatMap((event) => (event.kind === "ToolResult" ? [event.payload] : []));
}

describe("one program, several profiles", () => {
  test.each([false, true])(
    "each session has the rules and tools of its own (project later: %s)",
    async (projectLater) => {
      const { open, turn, slash } = await program({ projectLater, flags: { allow: ["Write"] } });
      const [plain, strict, web, shop] = [
        await open(),
        await open({ profile: "strict" }),
        await open({ profile: "web" }),
        await open({ profile: "shop" }),
      ];
      expect(results(await turn(strict, "write"))).toMatchObject([{ outcome: "denied" }]);
      expect(results(await turn(shop, "write"))).toMatchObject([{ outcome: "denied" }]);
      expect(results(await turn(plain, "write"))).toMatchObject([{ outcome: "ok" }]);
      expect((await slash(web, "profile")).text).toContain("4 tools: web.fetch, ask_user, plan, todos");
      expect((await slash(strict, "profile")).text).toMatch(/tool_packs +fs +\(.*strict\.toml\)/);
    },
  );

  test("each session compacts as its profile says, field by field before config.toml", async () => {
    const { open, slash } = await createProfiledProgram({
      files: {
        "../.config/harness/config.toml": '[context]\ncompaction = "prune"\nmax_tokens = 9000\n',
        [`${USER}/long.toml`]: "[context]\nmax_tokens = 64000\n",
        [`${USER}/wrong.toml`]: '[context]\ncompaction = "sometimes"\n',
      },
    });
    const shown = async (profile: string) => (await slash(await open({ profile }), "profile")).text;
    expect(await shown("default")).toMatch(/context +max_tokens 9000, compaction prune +\(.*config\.toml\)/);
    expect(await shown("long")).toMatch(/context +max_tokens 64000, compaction prune +\(.*long\.toml\)/);
    await expect(open({ profile: "wrong" })).rejects.toMatchObject({ reason: "ConfigInvalid" });
  });

  test("a session keeps its profile when it is resumed, and another one is refused", async () => {
    const { open, harness, turn } = await program({ flags: { allow: ["Write"] } });
    const session = await open({ profile: "shop" });
    expect(await harness.control.retire(session)).toBe(true);
    await expect(open({ resume: session, profile: "web" })).rejects.toMatchObject({
      reason: "ConfigInvalid",
      message: expect.stringContaining("has the profile 'shop', so it is not resumed with 'web'"),
    });
    await open({ resume: session }, "agent");
    expect(results(await turn(session, "write"))).toMatchObject([{ outcome: "denied" }]);
    expect(await harness.store.get(session)).toMatchObject({ profile: "shop" });
  });

  test.each([
    ["nope", "ConfigInvalid", "there is no profile 'nope'. Known profiles: default, framework, strict, web, shop."],
    ["stict", "ConfigInvalid", "Did you mean 'strict'?"],
    ["./x.toml", "InvalidCommand", "'./x.toml' is not the name of a profile"],
    ["../.config/harness/profiles/web.toml", "InvalidCommand", "is not the name of a profile"],
  ])("%s is refused", async (profile, reason, message) => {
    const { open } = await program();
    await expect(open({ profile })).rejects.toMatchObject({ reason, message: expect.stringContaining(message) });
  });

  test("profiles are listed, those of a project for its session", async () => {
    const { open, harness } = await program({ flags: { profile: "strict" } });
    const listed = async (...session: Parameters<typeof harness.profiles>) =>
      (await harness.profiles(...session)).map(({ name, scope, active }) => `${name} ${scope}${active ? " *" : ""}`);
    const own = ["default built-in", "framework built-in"];
    expect(await listed()).toEqual([...own, "strict user *", "web user"]);
    const shop = await open({ profile: "shop" });
    expect(await listed(shop)).toEqual([...own, "strict user", "web user", "shop project *"]);
  });

  test("packs of skills: those that the profile names, and always the user's own", async () => {
    const skill = (name: string) => `---\nname: ${name}\ndescription: Does ${name}.\n---\nDo it.\n`;
    const { open, slash } = await createProfiledProgram({
      files: {
        "../.config/harness/skill-packs/ops/deploy/SKILL.md": skill("deploy"),
        "../.config/harness/skill-packs/other/unused/SKILL.md": skill("unused"),
        "../.config/harness/skills/mine/SKILL.md": skill("mine"),
        [`${USER}/ops.toml`]: 'skill_packs = ["ops"]\n',
        [`${USER}/all.toml`]: 'skill_packs = ["builtin", "ops"]\n',
        [`${USER}/none.toml`]: "skill_packs = []\n",
      },
    });
    const skills = async (profile: string) =>
      /^\d+ skills?: (.*)$/m.exec((await slash(await open({ profile }), "profile")).text ?? "")?.[1]?.split(", ");
    const builtIn = ["bisect-failure", "review-change", "write-eval", "write-hook", "write-policy", "write-tool"];
    expect(await skills("default")).toEqual([...builtIn, "mine"].toSorted());
    expect(await skills("ops")).toEqual(["deploy", "mine"]);
    expect(await skills("all")).toEqual([...builtIn, "deploy", "mine"].toSorted());
    expect(await skills("none")).toEqual(["mine"]);
  });

  test("what the servers of any profile get is a secret in every session; a broken profile hinders nobody", async () => {
    const secret = "zebra-quilt-4711-lamp";
    const { open, turn } = await createProfiledProgram({
      files: {
        [`${USER}/servers.toml`]: `[mcp_servers.notes]\ncommand = "notes"\nenv = { NOTES_TOKEN = "${secret}" }\n`,
        [`${USER}/broken.toml`]: "x = [",
      },
    });
    const events = await turn(await open(), `It is ${secret}.`);
    expect(JSON.stringify(events)).toContain("«redacted:");
    expect(JSON.stringify(events)).not.toContain(secret);
  });

  test("an agent gets the profile of the program and no other", async () => {
    const { open, slash } = await program();
    await expect(open({ profile: "web" }, "agent")).rejects.toMatchObject({ reason: "NotAllowed" });
    const session = await open({}, "agent");
    await expect(slash(session, "profiles:web", undefined, "agent")).rejects.toMatchObject({ reason: "NotAllowed" });
  });
});

describe("a file that changes while a session has it", () => {
  test.each([
    ["is removed", undefined, "strict.toml is gone."],
    ["breaks", "tool_packs = [", "can no longer be used: "],
    ["has a wrong value", 'tool_packs = ["nope"]', "can no longer be used: "],
    ["becomes too large", `# ${"x".repeat(300_000)}`, "is larger than 262144 bytes"],
    ["loses a rule", 'prompt_header = "Be lax."\n', "strict.toml has changed."],
  ])("%s: its last good version stays in force, and the session says so once", async (_what, text, notice) => {
    const { open, cli, turn } = await program({ flags: { allow: ["Write"] } });
    const session = await open({ profile: "strict" });
    if (text === undefined) rmSync(join(cli.workspace, STRICT));
    else cli.put(STRICT, text);
    const events = await turn(session, "write");
    expect(results(events)).toMatchObject([{ outcome: "denied" }]);
    const told = (all: typeof events) => all.filter(({ kind }) => kind === "Error");
    expect(told(events)).toMatchObject([
      { payload: { reason: "ConfigInvalid", terminal: false, message: expect.stringContaining(notice) } },
    ]);
    expect(told(await turn(session, "again"))).toEqual([]);
  });
});

describe("/profiles:NAME", () => {
  test("starts a session with a summary of the last turns and pauses the old one", async () => {
    const { open, turn, slash, log, harness } = await program();
    const old = await open();
    for (const text of ["first", "second", "write third"]) await turn(old, text);
    const { text, session: next = old } = await slash(old, "profiles:web", "--turns 2");
    expect(text).toBe(
      `Started new session ${next} on profile 'web', with a summary of the last 2 turns. Old session ${old} is paused; /sessions:resume ${old} to return.`,
    );
    expect((await log(old)).at(-1)).toMatchObject({
      kind: "SessionEnded",
      payload: { reason: "paused", continued_in: next },
    });
    const [started, added] = await log(next);
    expect(started?.payload).toMatchObject({ profile: "web" });
    expect(added).toMatchObject({ kind: "ContextAdded", payload: { origin: "session", what: old } });
    const said = JSON.stringify(added);
    expect(said).toContain("Turn 2 (answered)\\nAsked: second\\nAnswered: I heard you.");
    expect(said).toContain("Called: fs.write");
    expect(said).not.toContain("first");
    // Whoever resumes it undoes the pause.
    expect(harness.control.sessions().map(({ id }) => id)).toEqual([next]);
    expect((await slash(next, "sessions:list")).text).toMatch(new RegExp(`paused +${old}`));
    await open({ resume: old });
    expect((await turn(old, "back")).at(-1)).toMatchObject({ kind: "TurnEnded", payload: { outcome: "answered" } });
    expect((await slash(next, "sessions:list")).text).toMatch(new RegExp(`idle +${old}`));
  });

  test("takes plan mode and labels along", async () => {
    const { open, slash, harness, turn, log } = await program();
    const old = await open();
    await harness.control.session(old)?.bus.publish("ContextAdded", {
      ...{ origin: "session" as const, what: "x", content: [], labels: ["untrusted" as const] },
    });
    await turn(old, "hello");
    const human = harness.control.connect({ identityClass: "human", interactive: false });
    await human.submit({ kind: "EnterPlanMode", session: old });
    const { session: next = old } = await slash(old, "profiles:web");
    expect((await log(next)).map(({ kind }) => kind)).toContain("PlanModeChanged");
    const last = (await turn(next, "go on")).at(-1);
    expect(last?.payload).toMatchObject({ labels: ["untrusted"], plan_mode: true });
  });

  test("--turns 0 takes nothing of the conversation along", async () => {
    const { open, turn, slash, log } = await program();
    const old = await open();
    await turn(old, "hello");
    const { session: next = old } = await slash(old, "profiles:web", "--turns=0");
    expect((await log(next)).map(({ kind }) => kind)).toEqual(["SessionStarted"]);
  });

  test("--in-place changes the profile of the session, says so, and keeps the conversation", async () => {
    const { open, turn, slash, log, harness } = await program({ flags: { allow: ["Write"] } });
    const session = await open();
    await turn(session, "hello");
    const { text, session: same } = await slash(session, "profiles:strict", "--in-place");
    expect(same).toBe(session);
    expect(text).toContain("has the profile 'strict' from now on. The conversation so far was made with other");
    await open({ resume: session });
    expect(results(await turn(session, "write"))).toMatchObject([{ outcome: "denied" }]);
    expect(await harness.store.get(session)).toMatchObject({ profile: "strict" });
    const profiles = (await log(session)).flatMap((one) =>
      one.kind === "SessionStarted" ? [one.payload.profile] : [],
    );
    expect(profiles).toEqual(["default", "strict"]);
  });

  test.each([
    ["profiles:default", undefined, "already has the profile 'default'"],
    ["profiles:web", "--turns 51", "N from 0 to 50"],
    ["profiles:web", "--turns", "is not understood"],
    ["profiles:web", "--in-place --turns 2", "is not understood"],
    ["profiles:broken", undefined, "broken.toml:1"],
    ["profiles:broken", "--in-place", "broken.toml:1"],
    ["profiles:model", undefined, "modelprovider"],
    ["profiles:model", "--in-place", "modelprovider"],
    [
      "profiles:pack",
      undefined,
      `skill_packs names 'bulitin', which is not there. Known: builtin. Did you mean "builtin"?`,
    ],
    ["profiles:preset", undefined, `Did you mean "no-edits"?`],
    ["profiles:nope", undefined, "there is no /profiles:nope"],
  ])("%s %s changes nothing: %s", async (word, options, message) => {
    const files = {
      ...FILES,
      [`${USER}/broken.toml`]: 'tool_packs = "fs"\n',
      [`${USER}/model.toml`]: 'default_model = "modelprovider:x"\n',
      [`${USER}/pack.toml`]: 'skill_packs = ["bulitin"]\n',
      [`${USER}/preset.toml`]: 'permission_presets = ["no-edit"]\n',
    };
    const { open, slash, harness, turn } = await createProfiledProgram({
      files: { ...files, "../.config/harness/config.toml": 'model = "scripted:./answers.yaml"\n' },
      flags: { model: undefined } as never,
    });
    const session = await open();
    await expect(slash(session, word, options)).rejects.toThrow(message);
    expect(harness.control.sessions().map(({ id }) => id)).toEqual([session]);
    expect((await turn(session, "still here")).at(-1)?.payload).toMatchObject({ outcome: "answered" });
    expect(await harness.store.list({ limit: 10 })).toHaveLength(1);
  });

  test("is refused while a turn runs", async () => {
    const { open, slash, harness } = await program();
    const session = await open();
    const asked = Promise.withResolvers<void>();
    const human = harness.control.connect({
      ...{ identityClass: "human", interactive: true },
      onEvent: ({ kind }) => {
        if (kind === "PermissionRequested") asked.resolve();
      },
    });
    await human.submit({ kind: "AttachSession", session });
    const content = [{ type: "text" as const, text: "write" }];
    const { done } = await human.submit({ kind: "SendInput", session, content });
    await asked.promise;
    for (const options of [undefined, "--in-place"]) {
      await expect(slash(session, "profiles:web", options)).rejects.toMatchObject({ reason: "TurnInProgress" });
    }
    await human.submit({ kind: "CancelTurn", session });
    await done;
    expect(await harness.store.list({ limit: 10 })).toHaveLength(1);
  });
});
