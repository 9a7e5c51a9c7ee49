/**
 * What ordinary programs make of a known secret: the programs themselves write the text, and redaction has to find the secret in it,
 * whole and in a stream that is cut anywhere.
 */
import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { fingerprintSecret } from "#base";
import { createRedactor, type Redactor } from "#redaction";

export const SECRET = "sk-ant-api03-Zk3q_9PfTw-x7LmB2vRc8YhN4sJd6GuEaQ1oWt5iKpXbVnM0";
export const MARKER = "«redacted:known-secret»";
const COMMANDS = [
  "xxd -p",
  "xxd",
  "xxd -u -g1",
  "xxd -c 8",
  "xxd -i",
  "hexdump",
  "hexdump -C",
  "rev",
  "fold -w 1",
  "fold -w 7",
  "fold -w 20",
  "od",
  "od -c",
  "od -An -c",
  "od -b",
  "od -x",
  "od -tx1z",
  "od -tu1",
  "base32",
  "base32 -w 10",
  "base64 -w 9",
  "basenc --base16",
  "basenc --base32hex",
  "tr a-zA-Z n-za-mN-ZA-M",
  "tr a-z A-Z",
  "sed 's/./& /g'",
  "sed 's/./&,/g'",
  "od -An -to1 | sed 's/ 0*/ /g'",
  "grep --color=always -e x7L",
  "grep --color=always -e '[0-9]'",
  "grep --color=always -e '[a-z]' | cat -v",
  "grep --color=always -e '[A-Z]' | sed -n 'l 0'",
  "xxd -R always",
  String.raw`sed 's/./\x1b[1;31m&\x1b(B\x1b[m/g'`,
  String.raw`sed 's/[0-9]/\x1b]8;;file:\/\/host\/a1\x1b\\&\x1b]8;;\x07/g'`,
];

/** What a terminal does not show. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what they are made of.
const SEQUENCES = /(?:\x1b|\^\[|\\033)(?:\[[0-9;]*(?:[A-Za-z]|$)|\]8;;[^\x07\x1b]*(?:\x07|\x1b\\)|\(B)/g;

export const literal = createRedactor({ literals: [{ value: SECRET }] });
export const learned = createRedactor();
learned.learn(fingerprintSecret(Buffer.from(SECRET))!);

/** Defines a test for each program and each text in front of the secret, which moves it within groups of bytes and lines. */
export function testDerivedForms(befores: readonly string[]): void {
  describe.each(COMMANDS)("the output of %s", (command) => {
    test.each(befores)("keeps no secret behind %j", (before) => {
      const { stdout, status } = spawnSync("sh", ["-c", command], { input: `${before}${SECRET}\n`, encoding: "utf8" });
      // Not every machine has every program.
      if (status !== 0) return;
      for (const redactor of [literal, learned]) {
        const { text, counts } = redactor.redact(stdout);
        expect(counts).toEqual({ "known-secret": 1 });
        expect(text.replace(MARKER, "").replace(SEQUENCES, "").length).toBeLessThan(before.length * 5 + 110);
        const [head = "", tail] = text.split(MARKER);
        for (const chars of [1, 5, 13]) {
          const [streamedHead = "", streamedTail] = inPieces(redactor, stdout, chars).split(MARKER);
          expect(streamedTail).toBe(tail);
          // Up to three characters of a form hold nothing back.
          expect(streamedHead.startsWith(head)).toBe(true);
          const passed = streamedHead.slice(head.length).replace(SEQUENCES, "");
          expect(passed.replace(/[^A-Za-z0-9]/g, "").length).toBeLessThanOrEqual(3);
        }
      }
    });
  });
}

function inPieces(redactor: Redactor, text: string, chars: number): string {
  const stream = redactor.createStreamRedactor();
  let out = "";
  for (let at = 0; at < text.length; at += chars) out += stream.push(text.slice(at, at + chars));
  return out + stream.flush();
}
