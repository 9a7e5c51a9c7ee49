import { join } from "node:path";
import { expect, test } from "vitest";
import { createInProcessCli } from "../../test/fakes/in-process-cli.ts";
import { contextValue } from "../cli/flags.ts";

test("values of --set are JSON scalars where they are one, else text", () => {
  const texts = ["a=1", "b=true", "c=null", "d=x=y", "e=", 'f="quoted"', "g=[1]", "h=1e999", "i=-0.5"];
  const values = texts.reduce((all, text) => contextValue(text, all), {});
  expect(values).toEqual({ a: 1, b: true, c: null, d: "x=y", e: "", f: "quoted", g: "[1]", h: "1e999", i: -0.5 });
  for (const wrong of ["novalue", "=x", `${"k".repeat(101)}=1`, `k=${"v".repeat(10_001)}`]) {
    expect(() => contextValue(wrong), wrong.slice(0, 20)).toThrow();
  }
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`k${index}`, index]));
  expect(() => contextValue("k0=1", many)).not.toThrow();
  expect(() => contextValue("one_more=1", many)).toThrow("At most 100 values");
});

test.each(["https://a.example", "a.example/path", "a.example:443", "*.", "a b", ""])(
  "--allowed-domain %j is refused",
  async (host) => {
    const { code, err } = await createInProcessCli().run("run", "--list-tools", "--allowed-domain", host);
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining("Expected a host") });
  },
);

test("the policy of the machine hides tools from every project, and one that is named must be there", async () => {
  const outside = createInProcessCli();
  const policy = outside.put("policy.md", "---\ntools_policy: { deny: [exec] }\n---\n");
  const cli = createInProcessCli({ HARNESS_ADMIN_POLICY: policy });
  cli.put("harness.md", "---\ntools_policy: { mode: allowlist, allow: ['*'] }\n---\n");
  expect(await cli.json("run", "--list-tools")).not.toContainEqual(expect.objectContaining({ name: "exec" }));
  expect(await cli.json("tools")).toContainEqual(
    expect.objectContaining({ name: "exec", visible: false, why: expect.stringContaining("admin policy") }),
  );
  for (const wrong of [join(outside.workspace, "missing.md"), "policy.md"]) {
    const refused = await createInProcessCli({ HARNESS_ADMIN_POLICY: wrong }).run("tools");
    expect(refused).toMatchObject({ code: 2, out: "", err: expect.stringContaining("HARNESS_ADMIN_POLICY") });
  }
});

test("a condition that cannot be told: a plugin is off, an override and the hooks of a bundle are on, and it says why", async () => {
  const cli = createInProcessCli();
  const hook =
    "hooks:\n  - { name: guard, event: tool.pre, priority: 1, script: 'def handle(event, payload): return allow()' }\n";
  const broken = 'condition: int(ctx.get("n")) > 1\n';
  cli.put("harness.md", "---\n---\n");
  cli.put(".harness/plugins/plug.md", `---\ntype: plugin\n${broken}${hook}---\n\nText.\n`);
  cli.put(".harness/overrides/clamp.md", `---\ntype: override\n${broken}---\n\nText.\n`);
  expect(await cli.json("artifacts")).toMatchObject([
    { type: "harness" },
    { name: "plug", active: false, failed: expect.stringContaining("plug.md:3") },
    { name: "clamp", active: true, failed: expect.stringContaining("clamp.md:3") },
  ]);
  expect(await cli.json("hooks")).toMatchObject([
    { name: "guard", bundle: "plug", active: true, failed: expect.any(String) },
  ]);
  expect(await cli.json("artifacts", "--set", "n=2")).toMatchObject([{}, { active: true }, { active: true }]);
  expect(await cli.json("artifacts", "--set", "n=0")).toMatchObject([{}, { active: false }, { active: false }]);
});

test("-c takes a project for what runs one, and a configuration file for what needs only that", async () => {
  const cli = createInProcessCli();
  cli.put("sub/harness.md", "---\ntools_policy: { mode: allowlist, allow: [fs.read] }\n---\n");
  expect(await cli.json("run", "--list-tools", "-c", "sub/harness.md")).toEqual([
    expect.objectContaining({ name: "fs.read", source: "built-in" }),
  ]);
  expect(await cli.json("inspect", "-c", "sub/harness.md")).toMatchObject({ root: join(cli.workspace, "sub") });
  expect(await cli.run("models", "-c", "sub/harness.md")).toMatchObject({
    code: 2,
    err: expect.stringContaining(".toml"),
  });
  cli.put("own.toml", "max_steps = 7\n");
  expect(await cli.run("run", "-c", "own.toml", "-m", "scripted:offline", "--store", "memory", "hello")).toMatchObject({
    code: 0,
  });
});

test.each(["tools", "hooks", "agents"])("%s list is another spelling", async (name) => {
  const cli = createInProcessCli();
  cli.put("harness.md", "---\n---\n\nHello.\n");
  cli.put(".harness/agents/scout.md", "---\ndescription: Looks.\ntools: [fs.read]\n---\n\nLook.\n");
  const plain = await cli.run(name);
  expect(plain).toMatchObject({ code: 0, err: "" });
  expect(await cli.run(name, "list")).toEqual(plain);
  expect(await cli.run(name, "list", "--json")).toEqual(await cli.run(name, "--json"));
  expect(await cli.run(name, "lsit")).toMatchObject({ code: 2, err: expect.stringContaining("lsit") });
});

test("a rule whose tool does not exist is named at the start, with the nearest name", async () => {
  const cli = createInProcessCli();
  const { code, err } = await cli.run("run", "-m", "scripted:offline", "--store", "memory", "--allow", "Bsh(ls)", "hi");
  expect({ code, err }).toEqual({
    code: 0,
    err: expect.stringContaining("warning: --allow: the allow rule 'Bsh(ls)' matches no tool. Did you mean 'Bash'?\n"),
  });
});
