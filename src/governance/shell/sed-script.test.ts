import { expect, test } from "vitest";
import { isHarmlessSed } from "./sed-script.ts";

test.each([
  "1,10p",
  "/a/,/b/p",
  "/a/I,+3!p",
  "0~3d;2,~4p;$!N",
  "s/a\\/b/c/g;s|x|y|2p",
  "s#[[:space:]]#_#Ig",
  "/^$/d\n$!{N;D}",
  "/b/{/c/!p}",
  "y/abc/xyz/",
  "10q",
  "$!{h;d};q 5",
  ":a;N;$!ba;s/\\n/ /g",
  ":a\ns/x/y/\nta",
  "1i\\header",
  "$a the end; w x",
  "2c new",
  "# note\np # more",
  "s/[[:space:]]*x[^,]/y/;/^[]a-z\\/]/p",
  "s/[^]]*//",
])("%j only prints", (script) => {
  expect(isHarmlessSed(script)).toBe(true);
});

test.each([
  "w x",
  "1,2w x",
  "s/a/b/w x",
  "s/a/b/e",
  "s/a/b/ge",
  "e ls",
  "e",
  "r .env",
  "p;R x",
  "W x",
  "{p\nw x\n}",
  "pw x",
  "bw x",
  "s/a/b",
  "s\na\nb\n",
  "sxaxbx",
  "s/a/b\\\nw x/",
  ":a;s/a/b\\\nw x/",
  "a\\\nw x",
  "a foo\\\nw x",
  "/[/s/]/w x/p",
  "s/[/]/;/w x/p",
  "s/[]/]/;/w x/p",
  "s/[[:alpha:]/]/;/w x/p",
  "s/[[.].]/]/;/w x/p",
  "s:[[:alpha:]]:w x:",
  "s/[\\]/]/;w x",
  "\\,a,w x",
  "y/a/b/w x",
  "}w x",
  "/a/w x",
  "/a",
  "1,",
])("%j is not accepted", (script) => {
  expect(isHarmlessSed(script)).toBe(false);
});
