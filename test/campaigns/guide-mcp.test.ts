import { resolve } from "node:path";
import { describe } from "vitest";
import { testGuide } from "../fakes/guide-test.ts";
import { hasSandbox } from "../fakes/test-sandbox.ts";

describe.runIf(hasSandbox)("with a sandbox", () => {
  testGuide("mcp", { minCommands: 4, here: { "/opt/mcp": resolve(import.meta.dirname, "../../node_modules") } });
});
