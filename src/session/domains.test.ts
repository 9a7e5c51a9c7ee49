import { expect, test } from "vitest";
import { defaultSettings, type Project } from "#artifacts";
import { createProjectFolder } from "../../test/fakes/project-folder.ts";
import { createSessionDomains } from "./domains.ts";

async function projectWith(...domains: string[]): Promise<Project> {
  const text = `---\nnetwork: { allowed_domains: [${domains.join(", ")}] }\n---\n`;
  const { project } = await createProjectFolder({ "harness.md": text }).load();
  if (project === undefined) throw new Error("the project did not load");
  return project;
}

test("are parsed once for each version of the project, and hold the lists of all", async () => {
  const settings = { ...defaultSettings, network: { allowedDomains: ["a.test", "b.test"] } };
  let project = await projectWith("b.test", "c.test");
  const domains = createSessionDomains(settings, () => project);
  const first = domains();
  expect(domains()).toBe(first);
  expect(first?.entries).toEqual(["b.test"]);
  expect(first?.refusal("a.test")).toContain("(harness.md:2)");
  project = await projectWith("a.test");
  expect(domains()?.entries).toEqual(["a.test"]);
});

test("are none without a list, and refused with the entry that is none", () => {
  expect(createSessionDomains(defaultSettings, () => undefined)()).toBeUndefined();
  const settings = { ...defaultSettings, network: { allowedDomains: ["https://x"] } };
  expect(createSessionDomains(settings, () => undefined)).toThrow(/network\.allowed_domains: .*https:\/\/x/);
});
