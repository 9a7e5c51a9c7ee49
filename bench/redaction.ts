/**
 * `node bench/redaction.ts [seed]`: recall and false positives on our own corpora, which are made anew from the seed, and what
 * redaction costs: for ordinary text, for streams, and for 1 MB of everything that could make it slow. Times are of this thread
 * alone (CPU time), because what else runs on the machine is not ours to measure.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fingerprintSecret } from "#base";
import { createRedactor, type Redactor } from "#redaction";
import { cleanTexts } from "../test/corpora/redaction-clean.ts";
import { secretCases } from "../test/corpora/redaction-secrets.ts";
import { ALPHABETS, createSeededRandom } from "../test/corpora/seeded-random.ts";
import { type Figure, holds, median, printFigures } from "./figures.ts";

const LEAST_RECALL_PERCENT = 98;
const MOST_FALSE_POSITIVES_PERCENT = 2;
const ORDINARY_CHARS = 100_000;
const ORDINARY_LIMIT_MS = 5;
const HOSTILE_CHARS = 1_000_000;
const HOSTILE_LIMIT_MS = 100;
const DELTA_LIMIT_US = 2;
/** Each piece is read once more, as the views of known secrets that were taken apart. */
const KNOWN_DELTA_LIMIT_US = 4;
const DELTA_CHARS = 12;
const ROUNDS = 9;
const HOSTILE_ROUNDS = 3;
const RULES_REPEATED = 5;

const seed = process.argv[2] === undefined ? undefined : Number(process.argv[2]);
const root = resolve(import.meta.dirname, "..");
const random = createSeededRandom(seed ?? 1);
const beforeMs = cpuMs();
const redactor = createRedactor();
const startMs = cpuMs() - beforeMs;
const ordinary = sources().slice(0, ORDINARY_CHARS);
const figures = [
  ...accuracy(),
  unread(),
  { name: "making a redactor, first in the process", unit: "ms", ours: startMs },
  ...speed(),
  ...speedWithKnown(),
];
printFigures("redaction", figures);
process.exitCode = figures.every(holds) ? 0 : 1;

function accuracy(): Figure[] {
  const secrets = secretCases(seed);
  const missed = secrets.filter(({ text, secret }) => redactor.redact(text).text.includes(secret));
  for (const { kind, context } of missed) process.stderr.write(`missed: ${kind} (${context})\n`);
  const clean = cleanTexts(seed);
  const changed = clean.filter(({ text }) => redactor.redact(text).text !== text);
  for (const { family, text } of changed) process.stderr.write(`changed: ${family}: ${redactor.redact(text).text}\n`);
  const missedPercent = (100 * missed.length) / secrets.length;
  const kinds = new Set(secrets.map(({ kind }) => kind)).size;
  return [
    {
      name: `missed of ${secrets.length} secrets of ${kinds} classes`,
      unit: "%",
      ours: missedPercent,
      limit: 100 - LEAST_RECALL_PERCENT,
    },
    {
      name: `changed of ${clean.length} clean texts`,
      unit: "%",
      ours: (100 * changed.length) / clean.length,
      limit: MOST_FALSE_POSITIVES_PERCENT,
    },
    {
      name: "secrets that passed a stream cut into pieces of 1 to 9 characters",
      unit: "",
      ours: passedStream(),
      limit: missed.length,
    },
  ];
}

/** The look budget is for made-up text alone: our own files, with the rule table and its tests, are as full of names as any. */
function unread(): Figure {
  const text = ["src", "docs", "test"]
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && /\.(?:ts|md|star|yaml|json)$/.test(entry.name))
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), "utf8"))
    .join("\n");
  const rules = ["src/redaction", "src/redaction/rules", "test/corpora"]
    .flatMap((folder) => readdirSync(join(root, folder)).map((name) => join(root, folder, name)))
    .filter((path) => path.endsWith(".ts"))
    .map((path) => readFileSync(path, "utf8"))
    .join("\n");
  const texts = [text, rules.repeat(RULES_REPEATED)];
  return {
    name: `unread parts of ${(texts.join("").length / 1_000_000).toFixed(1)} MB of our own files`,
    unit: "",
    ours: texts.reduce((sum, one) => sum + (redactor.redact(one).counts.unread ?? 0), 0),
    limit: 0,
  };
}

function passedStream(): number {
  return secretCases(seed).filter(({ text, secret }) => {
    const stream = redactor.createStreamRedactor();
    let out = "";
    for (let at = 0; at < text.length; ) {
      const size = 1 + random.integer(9);
      out += stream.push(text.slice(at, at + size));
      at += size;
    }
    return (out + stream.flush()).includes(secret);
  }).length;
}

function speed(): Figure[] {
  const hostile = Object.entries(hostileTexts()).map(([name, text]) => ({
    name,
    ms: fastest(HOSTILE_ROUNDS, () => redactor.redact(text)),
  }));
  hostile.sort((a, b) => b.ms - a.ms);
  return [
    {
      name: "100 KB of source code",
      unit: "ms",
      ours: median(timed(ROUNDS, () => redactor.redact(ordinary))),
      limit: ORDINARY_LIMIT_MS,
    },
    {
      name: `a delta of ${DELTA_CHARS} characters, amortised`,
      unit: "us",
      ours: deltaUs(redactor),
      limit: DELTA_LIMIT_US,
    },
    ...hostile.map(({ name, ms }) => ({ name: `1 MB of ${name}`, unit: "ms", ours: ms, limit: HOSTILE_LIMIT_MS })),
  ];
}

/** With keys in the environment and keys of the credential helper, as a program in use has them. */
function speedWithKnown(): Figure[] {
  const keys = ["sk-ant-api03-", "sk-proj-", "sk-ant-api03-", "ghp_"].map(
    (head) => `${head}${random.chars(ALPHABETS.url, 95)}`,
  );
  const knowing = createRedactor({ literals: keys.slice(0, 2).map((value) => ({ value })) });
  for (const key of keys.slice(2)) knowing.learn(fingerprintSecret(Buffer.from(key))!);
  const fill = (piece: string): string => piece.repeat(Math.ceil(HOSTILE_CHARS / piece.length)).slice(0, HOSTILE_CHARS);
  const hostile = {
    "the beginning of known keys": fill("sk-ant-api03- "),
    "their beginning, one character a line": fill("s\nk\na\nn\n"),
    "their beginning in a dump": fill("0000000 73 6b 2d 61 6e 74  |sk-ant|\n"),
    "known keys in hex": fill(`${Buffer.from(keys[0]!).toString("hex")}\n`),
    "known keys in colour": fill(`${[...keys[0]!].join("\u001b[1;31m")}\n`),
    "beginnings of sequences": fill("\u001b]sk-ant-\u001b["),
    "line breaks": fill("\n"),
    "source code": fill(sources()),
  };
  const named = (what: string): string => `${what}, with ${keys.length} known keys`;
  return [
    {
      name: named("100 KB of source code"),
      unit: "ms",
      ours: median(timed(ROUNDS, () => knowing.redact(ordinary))),
      limit: ORDINARY_LIMIT_MS,
    },
    {
      name: named(`a delta of ${DELTA_CHARS} characters`),
      unit: "us",
      ours: deltaUs(knowing),
      limit: KNOWN_DELTA_LIMIT_US,
    },
    ...Object.entries(hostile).map(([name, text]) => ({
      name: named(`1 MB of ${name}`),
      unit: "ms",
      ours: fastest(HOSTILE_ROUNDS, () => knowing.redact(text)),
      limit: HOSTILE_LIMIT_MS,
    })),
  ];
}

function deltaUs(measured: Redactor): number {
  const streamMs = fastest(ROUNDS, () => {
    const stream = measured.createStreamRedactor();
    for (let at = 0; at < ordinary.length; at += DELTA_CHARS) stream.push(ordinary.slice(at, at + DELTA_CHARS));
    stream.flush();
  });
  return (1000 * streamMs) / Math.ceil(ordinary.length / DELTA_CHARS);
}

function hostileTexts(): Readonly<Record<string, string>> {
  const fill = (piece: string): string => piece.repeat(Math.ceil(HOSTILE_CHARS / piece.length)).slice(0, HOSTILE_CHARS);
  const secret = secretCases(seed)
    .map(({ text }) => text)
    .join("\n");
  const line = `${random.chars(ALPHABETS.base64, 64)}\n`;
  return {
    "source code": fill(sources()),
    "the corpus of secrets": fill(secret),
    "one letter": fill("a"),
    "random base64": random.chars(ALPHABETS.base64, HOSTILE_CHARS),
    "lines of base64": fill(line),
    "ends of keys": fill(`${line}-----END `),
    "beginnings of keys": fill("-----BEGIN RSA PRIVATE KEY-----\n"),
    "one digit": fill("1"),
    "digits in groups": fill("4111 "),
    "beginnings of IBANs": fill("DE89 "),
    "nested quotes": fill('"\'`\\"'),
    backslashes: fill("\\"),
    "passwords without value": fill("password="),
    "names at the end of lines": fill("password\n"),
    "names and places of files": fill(`secret\n${"a/".repeat(60)}`),
    "keys in listings": fill(`-----BEGIN PRIVATE KEY-----\n${"a/b".repeat(40)}:1:`),
    "passwords with quotes": fill('password="'),
    "passwords in escaped quotes": fill('password=\\"'),
    "weak passwords": fill("password=Xk9#mQz2 "),
    "short names": fill("pwd="),
    "names that go on": fill("PASSWORD_A="),
    "names of several words": fill("A_PASSWORD_TOKEN_SECRET_KEY_X="),
    "prose about passwords": fill("password is "),
    flags: fill("--password "),
    "header names": fill("x-api-key: "),
    "names for values": fill("token=my-key-name-here, "),
    "names in cells": fill("| password | a1b2c3 "),
    "names that open lines": fill("password a1b2 \n"),
    "names in tags": fill("<password a "),
    "names in pairs": fill('"password", "value" : '),
    "names with defaults": fill('token || "a" '),
    "names in brackets": fill('"token": ["a", '),
    "names with objects": fill('"token": {"a": "b", '),
    "names with emphasis": fill("**token:** a1b2 "),
    "encoded names": fill("token%3Da1b2 "),
    logins: fill("mysqli('a', 'b', 'c1',"),
    "addresses of Go": fill("a:b1@tcp("),
    "beginnings of JWTs": fill("eyJhbGciOiJIUzI1NiJ9."),
    "short token beginnings": fill("sk-"),
    "token beginnings": fill("ghp_"),
    cookies: fill("cookie: a="),
    addresses: fill("http://a:b@"),
    "user flags": fill("curl -u a:bcde "),
    "names of vendors": fill("github cloudflare datadog azure_devops heroku vercel "),
    "bearer words": fill("bearer "),
    // Found by a search for what takes longest, over all words of the table.
    "vendors close together": fill("AIza[\\w-]{35}zai_mj_bot otpauth://trello-token.pagerduty"),
    "a secret in every word": fill("scw_secret:APA91bsk-bot "),
    "short passwords, one a line": Array.from(
      { length: HOSTILE_CHARS / 17 },
      (_, line) => `PW_${String(line).padStart(5, "0")}=${random.chars(ALPHABETS.base64, 7)}`,
    ).join("\n"),
    "keys and flags": fill('apikey -p\\"auth\\"'),
    "keys in strings": fill('.atlasv1.apikey cookieJQQJ99\\"auth\\"'),
    "vendors and headers": fill('railway\\"auth\\"authorization: apikey '),
    "keys and headers": fill('psk="t7#kLm9qPz"authorization: apikey '),
    "all keywords": fill(
      "password token secret ghp_ AKIA eyJ -----BEGIN Bearer sk- :// cookie: -u api_key datadog aws_secret ",
    ),
    markers: fill("«redacted:password»"),
    "other scripts": fill("пароль: 漢字 "),
  };
}

/** Our own sources: what a coding agent reads. */
function sources(): string {
  return ["src/engine", "src/sessions", "docs/reference"]
    .flatMap((folder) => readdirSync(join(root, folder)).map((name) => join(root, folder, name)))
    .filter((path) => /\.(?:ts|md)$/.test(path))
    .map((path) => readFileSync(path, "utf8"))
    .join("\n");
}

function timed(rounds: number, work: () => unknown): number[] {
  // The clock of the thread is coarse: what is short is done several times.
  const once = (times: number): number => {
    const start = cpuMs();
    for (let at = 0; at < times; at++) work();
    return (cpuMs() - start) / times;
  };
  const times = Math.max(1, Math.ceil(30 / Math.max(once(1), 0.5)));
  return Array.from({ length: rounds }, () => once(times));
}

function fastest(rounds: number, work: () => unknown): number {
  return Math.min(...timed(rounds, work));
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
