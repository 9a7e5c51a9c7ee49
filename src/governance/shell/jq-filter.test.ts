import { expect, test } from "vitest";
import { isHarmlessJq } from "./jq-filter.ts";

test.each([
  '.env | .[] | "\\(.name)"',
  '.[] | select(.id == 1) | {name, env, "x": .y, z: (.a // 1)}',
  'to_entries[] | "\\(.key): \\(.value | tostring)"',
  "[.[] | select(.name == $n)] | length",
  "reduce .[] as $x (0; . + $x.n)",
  "if .a then {b: 1, env} elif .c then 2 else 3 end",
  '.["a b"]?, ..|numbers, @base64 "x\\("y")"',
  "map(.x |= ascii_downcase) | sort_by(.id)[:3]",
  "limit(3; .[]) as [$a, $b] | $a + $b",
])("%j only computes", (filter) => {
  expect(isHarmlessJq(filter)).toBe(true);
});

test.each([
  "env",
  "env.HOME",
  "$ENV.HOME",
  "$ENV",
  "$ ENV",
  '"\\($ENV)"',
  '"\\("\\(env)")"',
  "{a: env}",
  "{(env): 1}",
  "[1, env]",
  "{a: if 1 then 2, env else 3 end}",
  ". as {a: $x} | env",
  "$__prog_args",
  "$__loc__",
  "def f: env; f",
  'import "x" as x; .',
  'include "x"; .',
  "x::f",
  '{x::f: "a"}',
  "modulemeta",
  "get_search_list",
  "# a\nenv",
  "unknown_function",
  '"a',
  "(.a",
  ".a)",
  "{]",
])("%j is not accepted", (filter) => {
  expect(isHarmlessJq(filter)).toBe(false);
});
