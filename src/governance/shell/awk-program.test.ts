import { expect, test } from "vitest";
import { isHarmlessAwk, isHarmlessAwkAssignment } from "./awk-program.ts";

test.each([
  '{print $1 ": " $NF}',
  "/a|b/ && $2 > 5 {n++} END {print n / 2}",
  '{gsub(/"?x/, "y"); print}',
  "!seen[$0]++",
  "NR==2, NR==4",
  "/start/,/end/",
  "length > 80",
  'BEGIN { FS = ","; OFS = "\\t" }\n{ $1 = $1; print }',
  "{ if (NR % 2 == 0) print; else if ($1 ~ /[^a-z\\/]/) next; else { x += $2 } }",
  'END { for (k in a) printf "%-10s %d\\n", k, a[k] }',
  "{ for (i = 1; i <= NF; i++) if ($i > max) max = $i } END { print max }",
  "{ while (i < 3) i++; do i--; while (i > 0); delete a[i] }",
  '{ print (a > b ? "x" : "y"), substr($0, 1, 3) }',
  "{ print (a + b) / 2, a[1] / 2, NF / 2, 4 / 2 }",
  '{ split($0, p, /[,;]/); print p[1], ($1, $2) in p, sprintf("%05.2f", $1) }',
  "# count\n{ n += 1 } # each\nEND { print n }",
  "/[]a]/ || /[[:space:]]x/",
  'BEGIN { x["a", 1] = 2; exit 1 }',
])("%j only reads", (program) => {
  expect(isHarmlessAwk(program)).toBe(true);
});

test.each([
  // The holes: a quote in a pattern that one awk reads as the beginning of a string, and words that only some awk knows.
  'BEGIN { if (0) exit /"/; system("touch x"); if (0) exit /"/ }',
  "BEGIN { x = case / system(cmd) / 1 }",
  '/[]/]"/; system("touch x"); #"',
  '/[/]"/; system("touch x") #"/',
  '/[\\]/]"/; system("touch x")',
  '{print > "x"}',
  '{print 1,\n2 > "x"}',
  '{print(1)(2) > "x"}',
  '{print 1 >= "x"}',
  '{printf("%s", 1) >> "x"}',
  '{print | "sh"}',
  '{print |& "sh"}',
  '{print 1 || "touch x"}',
  '{"date" | getline d}',
  '{system("x")}',
  '{system ("x")}',
  '{f("x")}',
  '{while ((getline l < "x") > 0) print l}',
  "{getline}",
  '/"/ {print > "f"} /"/',
  'BEGIN{i++ /1; system("x") /1}',
  "BEGIN{if (i++ /1) print 1 > f /1}",
  "{x = length / 2; y = 1 / 2}",
  "{print /x/}",
  "{x /= 2; if (x) /y/; z = 1}/",
  '@load "x"',
  '@include "x"',
  'BEGIN { f = "system"; @f("x") }',
  "function f() { print }",
  "{ARGV[1]=1}",
  "{print ENVIRON[1]}",
  'BEGIN { OFMT = "%n" }',
  'BEGIN { PROCINFO["sorted_in"] = "f" }',
  'BEGIN { asort(a, b, "f") }',
  "BEGIN { x = 0xfgetline }",
  "BEGIN { close(x) }",
  "{ print \\\n1 }",
  "# a \\\n{ print }",
  "{ print",
  "{ print } }",
  'BEGIN { print "a\n" }',
  `${"(".repeat(100)}1${")".repeat(100)}`,
])("%j is not accepted", (program) => {
  expect(isHarmlessAwk(program)).toBe(false);
});

test("a variable is set only when the program could set it", () => {
  expect(["n=2", "FS=,", "re=a.*b", "Max=/x"].map(isHarmlessAwkAssignment)).toEqual([true, true, true, true]);
  expect(["OFMT=%n", "ENVIRON=1", "getline=1", "n", "=1", "a:b=1"].some(isHarmlessAwkAssignment)).toBe(false);
});
