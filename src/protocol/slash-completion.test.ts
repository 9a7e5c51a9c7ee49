import fc from "fast-check";
import { expect, test } from "vitest";
import { builtInWords } from "./built-in-words.ts";
import { type SlashCommand, textArguments } from "./slash-commands.ts";
import { completeSlash } from "./slash-completion.ts";

const row = (word: string): SlashCommand => {
  const [namespace = "", name = ""] = word.includes(":") ? word.split(":") : ["", word];
  return { namespace, name, description: "", args_schema: textArguments() };
};
const rows = [
  ...["help", "health", "model", "skills:gofastr-ui", "skills:gofastr-db", "skills:review", "sessions:list"].map(row),
  ...["sessions:resume", "profiles:framework"].map(row),
];

test.each([
  ["/sk", ["/skills:"]],
  ["/skills:rev", ["/skills:review"]],
  ["/skills:gofa", ["/skills:gofastr-db", "/skills:gofastr-ui"]],
  // Where nothing begins so, the letters count.
  ["/skills:gui", ["/skills:gofastr-ui"]],
  ["/skills:gfd", ["/skills:gofastr-db"]],
  ["/skills:", ["/skills:gofastr-db", "/skills:gofastr-ui", "/skills:review"]],
  ["/", ["/health", "/help", "/model", "/profiles:", "/sessions:", "/skills:"]],
  ["/hel", ["/help"]],
  ["/he", ["/health", "/help"]],
  ["/mdl", ["/model"]],
  ["/SK", ["/skills:"]],
  ["/none:x", []],
  ["/zzz", []],
  ["hello", []],
  ["", []],
  ["/model a", []],
  [" /mo", []],
] as const)("%j is completed to %j", (line, expected) => {
  expect(completeSlash(line, rows)).toEqual(expected);
});

test("whatever is typed, everything offered is a word or the beginning of one, once", () => {
  const words = builtInWords.map(({ namespace, name }) => (namespace === "" ? `/${name}` : `/${namespace}:${name}`));
  fc.assert(
    fc.property(fc.string({ maxLength: 12 }), (typed) => {
      const offered = completeSlash(`/${typed}`, builtInWords);
      expect(new Set(offered).size).toBe(offered.length);
      for (const one of offered) expect(words.some((word) => word.startsWith(one))).toBe(true);
    }),
  );
});
