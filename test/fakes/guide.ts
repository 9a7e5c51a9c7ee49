/**
 * A page of the guide, followed word by word: files that it shows are written, commands that it shows are run in a shell, and what
 * they print is held against what the page says. A fence with `title=PATH` is a file, one of `console` commands after `$ ` with their
 * output; `…` in an output stands for anything. Fences of other kinds are only read.
 */
import { execFileSync, spawn } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { expect } from "vitest";
import { ackProject } from "./ack-project.ts";
import { type CliHome, createCliHome } from "./cli-process.ts";
import { launcher } from "./launcher.ts";

const root = resolve(import.meta.dirname, "../..");
const TIMEOUT_MS = 120_000;

type Part =
  | { readonly kind: "file"; readonly path: string; readonly text: string; readonly line: number }
  | { readonly kind: "command"; readonly command: string; readonly output: string; readonly line: number };

export interface FollowedGuide {
  /** Where the page has led. */
  readonly folder: string;
  readonly commands: number;
}

export interface GuideOptions {
  /** Where the reader begins, relative to this repository; copied. Default: an empty folder. */
  readonly from?: string;
  /** What stands in the page, and what it is here: a port, for example. */
  readonly here?: Readonly<Record<string, string>>;
}

export async function followGuide(page: string, { from, here = {} }: GuideOptions = {}): Promise<FollowedGuide> {
  const home = createCliHome();
  const path = `${programFolder(home)}:${home.env.PATH}`;
  if (from !== undefined) execFileSync("cp", ["-R", `${join(root, from)}/.`, home.workspace]);
  let folder = home.workspace;
  let commands = 0;
  const differences: string[] = [];
  for (const part of partsOf(readFileSync(join(root, page), "utf8"))) {
    if (part.kind === "file") {
      const file = join(folder, part.path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, part.text);
      continue;
    }
    commands += 1;
    // The shell here is no terminal: the reader sees what they have written once more, and presses a key.
    await ackProject({ workspace: folder, env: home.env });
    const command = Object.entries(here).reduce((text, [there, value]) => text.replaceAll(there, value), part.command);
    // A terminal shows both streams in the order in which they are written.
    const script = `{ ${command}\n} 2>&1; pwd > "$HOME/pwd"`;
    const output = await shellOutput(script, folder, { ...home.env, PATH: path });
    const printed = Object.entries(here).reduce((text, [there, value]) => text.replaceAll(value, there), output);
    if (!patternOf(part.output).test(shown(printed))) {
      differences.push(`${page}:${part.line}: ${part.command}\n${shown(printed)}`);
    }
    folder = readFileSync(join(home.env.HOME ?? "", "pwd"), "utf8").trim();
  }
  // All at once: a page that went stale is then mended in one go.
  expect(differences.join("\n\n")).toBe("");
  return { folder, commands };
}

function shellOutput(script: string, cwd: string, env: Readonly<Record<string, string>>): Promise<string> {
  const child = spawn("sh", ["-c", script], { cwd, env, timeout: TIMEOUT_MS, stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  return new Promise((done, failed) => {
    child.once("error", failed);
    child.once("close", () => done(text));
  });
}

/** `harness` as a command, as an installation would give it. */
function programFolder(home: CliHome): string {
  const folder = join(home.env.HOME ?? "", "bin");
  mkdirSync(folder);
  writeFileSync(join(folder, "harness"), `#!/bin/sh\nexec "${process.execPath}" "${launcher}" "$@"\n`);
  chmodSync(join(folder, "harness"), 0o755);
  return folder;
}

function partsOf(markdown: string): readonly Part[] {
  const parts: Part[] = [];
  const lines = markdown.split("\n");
  for (let index = 0; index < lines.length; index++) {
    const [, fence, info] = /^(`{3,})(.*)$/.exec(lines[index] ?? "") ?? [];
    if (fence === undefined || info === undefined) continue;
    const line = index + 1;
    const end = lines.indexOf(fence, line);
    if (end < 0) throw new Error(`the fence in line ${line} does not end`);
    const body = lines.slice(line, end);
    const title = /\btitle=(\S+)/.exec(info)?.[1];
    if (title !== undefined) parts.push({ kind: "file", path: title, text: `${body.join("\n")}\n`, line });
    else if (info === "console") parts.push(...commandsOf(body, line));
    index = end;
  }
  return parts;
}

/** A command may go on in lines that begin with `> `. */
function commandsOf(body: readonly string[], firstLine: number): readonly Part[] {
  const found: { command: string; output: string[]; line: number }[] = [];
  for (const [index, text] of body.entries()) {
    const last = found.at(-1);
    if (text.startsWith("$ ")) found.push({ command: text.slice(2), output: [], line: firstLine + index + 1 });
    else if (last === undefined) throw new Error(`line ${firstLine + index + 1}: output before a command`);
    else if (text.startsWith("> ") && last.output.length === 0) last.command += `\n${text.slice(2)}`;
    else last.output.push(text);
  }
  return found.map(({ command, output, line }) => ({ kind: "command", command, output: output.join("\n"), line }));
}

/** As a reader sees it: no blank line at the end, no spaces at the end of a line. */
function shown(text: string): string {
  // How long a call took is only written where it took more than a second: a matter of the machine.
  return text
    .replace(/ \(\d+\.\d s\)$/gm, "")
    .replace(/[ \t]+$/gm, "")
    .trimEnd();
}

function patternOf(output: string): RegExp {
  const literal = shown(output).split("…").map(RegExp.escape);
  return new RegExp(`^${literal.join("[\\s\\S]*?")}$`);
}
