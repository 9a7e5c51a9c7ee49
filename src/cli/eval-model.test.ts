/** `harness eval` with a model behind it: live, recorded, replayed, and held to a budget. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { evalReport, liveCase, openEvals, scriptedCase, startModel } from "../../test/fakes/eval-rig.ts";
import { startMockProvider } from "../../test/fakes/mock-provider-server.ts";

describe("a model", () => {
  test("is asked where its key is, with the cap of the case, and costs what it costs", async () => {
    const { vendor, env } = await startModel();
    const cli = openEvals(env);
    cli.put("evals/testdata/01.yaml", liveCase("hello", "{ type: cost_under, value: 0.03 }"));
    expect(await evalReport(cli)).toMatchObject({
      code: 0,
      spent_usd: expect.closeTo(0.021),
      cases: [{ mode: "live", model: "openai:gpt-4o-mini" }],
    });
    expect(vendor.requests).toMatchObject([{ body: { model: "gpt-4o-mini", max_completion_tokens: 77 } }]);
    await evalReport(cli, "--model", "openai:gpt-4o");
    expect(vendor.requests.at(-1)).toMatchObject({ body: { model: "gpt-4o" } });
  });

  test("that is scripted needs no key, wherever it is named, and plays its own scenario", async () => {
    const cli = openEvals();
    cli.put("evals/testdata/01.yaml", liveCase("hello"));
    cli.put("evals/testdata/02.yaml", scriptedCase("own", ["{ type: response_contains, value: Hello }"]));
    cli.put("polite.yaml", "name: polite\nrules: []\notherwise:\n  - text: Hello.\n");
    const played = { mode: "scripted", model: "scripted:./polite.yaml", status: "passed" };
    expect(await evalReport(cli, "--model", "scripted:./polite.yaml")).toMatchObject({
      code: 0,
      cases: [played, played],
    });
    expect((await evalReport(cli, "--model", "scripted:offline")).cases).toMatchObject([
      { mode: "scripted", model: "scripted:offline" },
      { mode: "scripted", model: "scripted:offline" },
    ]);
    cli.put("evals/testdata/01.yaml", liveCase("hello").replace("gpt-4o-mini", "scripted:./polite.yaml"));
    expect((await evalReport(cli, "--case", "hello")).cases).toMatchObject([played]);
  });

  test("is recorded once and replayed without a key, without a connection, the same every time", async () => {
    const { vendor, env } = await startModel();
    const there = openEvals(env);
    there.put("evals/testdata/01.yaml", liveCase("hello"));
    expect(await evalReport(there, "--record")).toMatchObject({ code: 0, cases: [{ mode: "record" }] });
    const cassette = readFileSync(join(there.workspace, "evals/testdata/01.cassette"), "utf8");
    expect(cassette).not.toContain("sk-test-key");
    const asked = vendor.requests.length;

    const here = openEvals();
    here.put("suite/01.yaml", liveCase("hello"));
    here.put("suite/01.cassette", cassette);
    const logs: string[] = [];
    for (const run of ["a", "b"]) {
      expect(await evalReport(here, "suite", "--logs", run)).toMatchObject({
        code: 0,
        spent_usd: 0,
        cases: [{ mode: "replay", model: "openai:gpt-4o-mini", status: "passed" }],
      });
      logs.push(readFileSync(join(here.workspace, run, "hello.jsonl"), "utf8"));
    }
    expect(logs[0]).toBe(logs[1]);
    expect(vendor.requests).toHaveLength(asked);
    // In CI the key is not used, even where there is one.
    const ci = openEvals({ ...env, CI: "true" });
    ci.put("suite/01.yaml", liveCase("hello"));
    ci.put("suite/01.cassette", cassette);
    expect((await evalReport(ci, "suite")).cases).toMatchObject([{ mode: "replay" }]);
    expect(vendor.requests).toHaveLength(asked);
    expect((await evalReport(ci, "suite", "--live")).cases).toMatchObject([{ mode: "live" }]);
    expect(vendor.requests).toHaveLength(asked + 1);
  });

  test("a case that changed since it was recorded is broken, with the first difference", async () => {
    const { env } = await startModel();
    const cli = openEvals(env);
    cli.put("evals/testdata/01.yaml", liveCase("hello"));
    await evalReport(cli, "--record");
    cli.put("evals/testdata/01.yaml", liveCase("hello").replace("Be brief.", "Be very brief."));
    const { code, cases } = await evalReport(cli, "--replay");
    expect(code).toBe(1);
    expect(cases).toMatchObject([{ status: "broken", detail: expect.stringMatching(/CassetteMismatch.*system/s) }]);
  });

  test("what a user configured on this machine holds where things really happen, and not in a replay", async () => {
    const cli = openEvals();
    const write = "- { tool: fs.write, args: { path: x, content: y } }";
    cli.put("evals/testdata/01.yaml", scriptedCase("writes", ["{ type: file_exists, path: x }"], write));
    expect((await evalReport(cli, "--record")).code).toBe(0);
    cli.put("../.config/harness/config.toml", 'system_prompt = "Be odd."\n[permissions]\ndeny = ["Write"]\n');
    expect((await evalReport(cli)).cases).toMatchObject([{ status: "failed", mode: "scripted" }]);
    expect((await evalReport(cli, "--replay")).cases).toMatchObject([{ status: "passed", mode: "replay" }]);
  });

  test("a recording that failed leaves the cassette that was there", async () => {
    const { env } = await startModel();
    const cli = openEvals(env);
    cli.put("evals/testdata/01.yaml", liveCase("hello"));
    await evalReport(cli, "--record");
    const cassette = join(cli.workspace, "evals/testdata/01.cassette");
    const before = readFileSync(cassette, "utf8");
    const refusing = await startMockProvider({ always: { type: "http", status: 401, headers: {}, body: "{}" } });
    onTestFinished(() => refusing.close());
    const broken = openEvals({ ...env, OPENAI_BASE_URL: `${refusing.url}/v1` });
    broken.put("evals/testdata/01.yaml", liveCase("hello"));
    broken.put("evals/testdata/01.cassette", before);
    expect((await evalReport(broken, "--record")).cases).toMatchObject([{ status: "broken" }]);
    expect(readFileSync(join(broken.workspace, "evals/testdata/01.cassette"), "utf8")).toBe(before);
  });

  test("without a key, a cassette and a scenario the case is not run, and that is no success", async () => {
    const cli = openEvals();
    cli.put("evals/testdata/01.yaml", liveCase("hello"));
    expect(await evalReport(cli)).toMatchObject({
      code: 1,
      passed: false,
      cases: [{ status: "not_run", detail: expect.stringContaining("no cassette and no scenario, and no key is set") }],
    });
    cli.put("evals/testdata/01.yaml", liveCase("hello").replace("gpt-4o-mini", "openia:gpt-4o-mini"));
    expect(await cli.run("eval")).toMatchObject({
      code: 2,
      err: expect.stringContaining("Did you mean 'openai:gpt-4o-mini'?"),
    });
  });

  test("a budget stops the suite at most one call too late; what was not run is told", async () => {
    const { vendor, env } = await startModel();
    const cli = openEvals(env);
    for (let index = 0; index < 12; index++) cli.put(`evals/testdata/${index}.yaml`, liveCase(`hello-${index}`));
    const suite = await evalReport(cli, "--budget", "0.05", "--jobs", "6");
    // Each call costs $0.021: the third crosses.
    expect(vendor.requests).toHaveLength(3);
    expect(suite).toMatchObject({
      code: 1,
      counts: { passed: 3, not_run: 9 },
      spent_usd: expect.closeTo(0.063),
      stopped: "the budget is used up: $0.0630 of $0.05",
    });
  });

  test("whose price nobody knows cannot be held to a budget", async () => {
    const { vendor, env } = await startModel();
    const cli = openEvals(env);
    for (const name of ["a", "b"])
      cli.put(`evals/testdata/${name}.yaml`, liveCase(name).replace("gpt-4o-mini", "openai:mystery"));
    expect(await evalReport(cli, "--budget", "1")).toMatchObject({
      code: 1,
      stopped: expect.stringContaining("The price of openai:mystery is unknown"),
    });
    expect(vendor.requests).toHaveLength(0);
  });
});
