import { expect, test } from "vitest";
import { soonNeeded } from "./program-credentials.ts";

test.each([
  [["run", "-m", "openai:x", "hi"], {}, ["OPENAI_API_KEY"]],
  [["deploy", "--model=zai:x"], {}, ["ZAI_API_KEY"]],
  [["run", "-m", "ollama:x"], {}, []],
  [["run", "-m", "scripted:demo"], {}, []],
  [["run", "hi"], { HARNESS_MODEL: "anthropic:x" }, ["ANTHROPIC_API_KEY"]],
  [["run", "hi"], {}, ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "ZAI_API_KEY"]],
  [["sessions", "list"], {}, []],
  [[], {}, []],
])("%j is about to need a key of %j: %j", (argv, env, variables) => {
  expect(soonNeeded(argv, env)).toEqual(variables);
});
