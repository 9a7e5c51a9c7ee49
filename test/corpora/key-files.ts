/** Private keys as files, strings, listings and diffs hold them, whole and cut. */
import type { SecretCase } from "./secret-case.ts";
import { ALPHABETS, type SeededRandom } from "./seeded-random.ts";

export function keyFileCases(random: SeededRandom): SecretCase[] {
  const labels = [
    "RSA PRIVATE KEY",
    "PRIVATE KEY",
    "EC PRIVATE KEY",
    "OPENSSH PRIVATE KEY",
    "ENCRYPTED PRIVATE KEY",
    "DSA PRIVATE KEY",
    "PGP PRIVATE KEY BLOCK",
  ];
  const places: readonly (readonly [string, (label: string, lines: readonly string[]) => string])[] = [
    ["file", (label, lines) => `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`],
    ["file, CRLF", (label, lines) => `-----BEGIN ${label}-----\r\n${lines.join("\r\n")}\r\n-----END ${label}-----\r\n`],
    [
      "json string",
      (label, lines) => `{"private_key":"-----BEGIN ${label}-----\\n${lines.join("\\n")}\\n-----END ${label}-----\\n"}`,
    ],
    [
      "yaml block",
      (label, lines) =>
        `key: |\n  -----BEGIN ${label}-----\n${lines.map((line) => `  ${line}\n`).join("")}  -----END ${label}-----\n`,
    ],
    ["end cut off", (label, lines) => `$ head -4 id_rsa\n-----BEGIN ${label}-----\n${lines.slice(0, 3).join("\n")}\n`],
    ["beginning cut off", (label, lines) => `${lines.slice(1).join("\n")}\n-----END ${label}-----\n`],
    [
      "numbered listing",
      (label, lines) =>
        [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`]
          .map((line, at) => `${String(at + 1).padStart(6)}\t${line}\n`)
          .join(""),
    ],
    [
      "diff",
      (label, lines) =>
        [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`].map((line) => `+${line}\n`).join(""),
    ],
    [
      "encrypted",
      (label, lines) =>
        `-----BEGIN ${label}-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,${random.chars(ALPHABETS.upperHex, 32)}\n\n${lines.join("\n")}\n-----END ${label}-----\n`,
    ],
  ];
  return places.flatMap(([context, write]) =>
    labels.map((label) => {
      const lines = [
        ...Array.from({ length: 5 }, () => random.chars(ALPHABETS.base64, 64)),
        `${random.chars(ALPHABETS.base64, 22)}==`,
      ];
      return { kind: "private-key", context, text: write(label, lines), secret: lines[2]! };
    }),
  );
}
