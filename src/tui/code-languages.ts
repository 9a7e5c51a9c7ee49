/** The languages whose code is coloured, by the names that fences and file names have for them. Loaded with the widgets. */
import { c, cpp, csharp, dart, java, kotlin, scala } from "@codemirror/legacy-modes/mode/clike";
import { cmake } from "@codemirror/legacy-modes/mode/cmake";
import { css, less, sCSS } from "@codemirror/legacy-modes/mode/css";
import { diff } from "@codemirror/legacy-modes/mode/diff";
import { dockerFile } from "@codemirror/legacy-modes/mode/dockerfile";
import { go } from "@codemirror/legacy-modes/mode/go";
import { javascript, json, typescript } from "@codemirror/legacy-modes/mode/javascript";
import { lua } from "@codemirror/legacy-modes/mode/lua";
import { perl } from "@codemirror/legacy-modes/mode/perl";
import { powerShell } from "@codemirror/legacy-modes/mode/powershell";
import { properties } from "@codemirror/legacy-modes/mode/properties";
import { protobuf } from "@codemirror/legacy-modes/mode/protobuf";
import { python } from "@codemirror/legacy-modes/mode/python";
import { ruby } from "@codemirror/legacy-modes/mode/ruby";
import { rust } from "@codemirror/legacy-modes/mode/rust";
import { shell } from "@codemirror/legacy-modes/mode/shell";
import { standardSQL } from "@codemirror/legacy-modes/mode/sql";
import { swift } from "@codemirror/legacy-modes/mode/swift";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { html, xml } from "@codemirror/legacy-modes/mode/xml";
import { yaml } from "@codemirror/legacy-modes/mode/yaml";
import type { StreamParser } from "@codemirror/streamparser";

export type CodeLanguage = StreamParser<unknown>;

const names: readonly (readonly [names: string, language: CodeLanguage])[] = [
  ["ts tsx mts cts typescript", typescript],
  ["js jsx mjs cjs javascript node", javascript],
  ["json jsonc json5 jsonl ndjson", json],
  ["py pyi python python3 star starlark bzl", python],
  ["sh bash zsh shell console shell-session bashrc zshrc", shell],
  ["go golang", go],
  ["rs rust", rust],
  ["c h", c],
  ["cpp cc cxx hpp hh c++", cpp],
  ["cs csharp c#", csharp],
  ["java", java],
  ["kt kts kotlin", kotlin],
  ["scala", scala],
  ["dart", dart],
  ["swift", swift],
  ["rb ruby gemfile rakefile", ruby],
  ["lua", lua],
  ["pl pm perl", perl],
  ["ps1 psm1 powershell pwsh", powerShell],
  ["sql", standardSQL],
  ["css", css],
  ["scss", sCSS],
  ["less", less],
  ["html htm vue svelte", html],
  ["xml svg xhtml plist", xml],
  ["yaml yml", yaml],
  ["toml", toml],
  ["ini properties conf cfg env editorconfig gitconfig npmrc", properties],
  ["dockerfile containerfile docker", dockerFile],
  ["proto protobuf", protobuf],
  ["cmake cmakelists", cmake],
  ["diff patch", diff],
];

const languages = new Map(names.flatMap(([known, language]) => known.split(" ").map((name) => [name, language])));

/** By the word behind a fence (`ts`, `ts {1,2}`) or by a file's name; undefined for what is shown in one colour. */
export function codeLanguage(name: string): CodeLanguage | undefined {
  const word = (/^[^\s{,:]+/.exec(name.trim())?.[0] ?? "").toLowerCase();
  const file = word.slice(word.lastIndexOf("/") + 1);
  const [stem = ""] = file.split(".").filter((part) => part !== "");
  return languages.get(file.slice(file.lastIndexOf(".") + 1)) ?? languages.get(stem);
}
