/** `fs.search`: file contents by regular expression, in ripgrep's linear-time syntax. */
import { type EffectPorts, objectSchema, withoutCutEnd } from "#base";
import { ToolError, textOutput } from "#engine";
import { type Arguments, flagArgument, optionalInteger, optionalText, textArgument } from "./arguments.ts";
import type { BuiltinTool } from "./facts.ts";
import { suggestNames } from "./near-names.ts";
import { runRipgrep } from "./ripgrep.ts";

const MAX_LINES = 300;
const MAX_CHARS = 60_000;
const MAX_COLUMNS = 500;
const MAX_CONTEXT = 10;

const OUTPUTS = ["content", "files", "count"] as const;
type OutputMode = (typeof OUTPUTS)[number];

export const searchTool: BuiltinTool = {
  name: "fs.search",
  label: "Grep",
  class: "read_only",
  kind: "search",
  paths: [
    { name: "path", means: "target", reveals: true },
    { name: "glob", means: "glob", reveals: true },
  ],
  description: "Search file contents by regex (ripgrep syntax). glob: files to search, context: lines around a match.",
  parameters: objectSchema(
    {
      pattern: { type: "string" },
      path: { type: "string" },
      glob: { type: "string" },
      ignore_case: { type: "boolean" },
      context: { type: "integer" },
      output: { enum: OUTPUTS },
    },
    ["pattern"],
  ),
  subject: (args) => optionalText(args, "path") ?? ".",
  async run(args, { ports, signal }) {
    const place = await placeOf(ports, optionalText(args, "path") ?? ".");
    const mode = outputMode(args);
    const lines: string[] = [];
    let chars = 0;
    let cut = false;
    const onRecord = (record: string) => {
      const line = readable(record, mode, place.prefix);
      chars += line.length + 1;
      cut = lines.length >= MAX_LINES || chars > MAX_CHARS;
      if (!cut) lines.push(line);
      return !cut;
    };
    const separator = mode === "files" ? "\0" : "\n";
    await runRipgrep(ports, { args: searchArgs(args, mode, place), ...place, separator, onRecord }, signal);
    if (lines.length === 0) return textOutput("No matches.");
    if (cut) lines.push("[more matches; narrow the pattern, path or glob]");
    return textOutput(lines.join("\n"));
  },
};

interface Place {
  readonly cwd: string;
  readonly target: string;
  readonly prefix: string;
  readonly isFile: boolean;
}

/** A directory is searched from inside, so that a glob is relative to it; a file from the root. */
async function placeOf(ports: EffectPorts, path: string): Promise<Place> {
  const located = await ports.files.locate(path);
  const info = await ports.files.stat(located);
  if (info === undefined) throw new ToolError(`${path} does not exist.${await suggestNames(ports.files, path)}`);
  if (info.kind !== "directory") return { cwd: ".", target: `./${located}`, prefix: "", isFile: true };
  return { cwd: located, target: "./", prefix: located === "." ? "" : `${located}/`, isFile: false };
}

function outputMode(args: Arguments): OutputMode {
  const wanted = optionalText(args, "output") ?? "content";
  const mode = OUTPUTS.find((output) => output === wanted);
  if (mode === undefined) throw new ToolError(`output must be one of ${OUTPUTS.join(", ")}`, "InvalidArguments");
  return mode;
}

/** A glob names files on purpose, so unlike a plain search it also reaches a matching file that is ignored. */
function searchArgs(args: Arguments, mode: OutputMode, place: Place): string[] {
  const glob = optionalText(args, "glob");
  const context = Math.min(optionalInteger(args, "context", 0) ?? 0, MAX_CONTEXT);
  const shape = {
    content: [
      "--heading",
      "--line-number",
      `--max-columns=${MAX_COLUMNS}`,
      "--max-columns-preview",
      `--context=${context}`,
    ],
    files: ["--files-with-matches"],
    count: ["--count"],
  } as const satisfies Record<OutputMode, readonly string[]>;
  return [
    "--sort=path",
    "--null",
    "--with-filename",
    ...shape[mode],
    ...(flagArgument(args, "ignore_case") ? ["--ignore-case"] : []),
    ...(glob === undefined ? [] : [`--glob=${glob}`]),
    // A secret file is searched only when it is named in full, which was asked about before it came here.
    ...(place.isFile || (glob !== undefined && !/[*?[{!]/.test(glob)) ? [] : PASS_OVER_SECRETS),
    `--regexp=${textArgument(args, "pattern")}`,
  ];
}

/** Files that hold secrets more often than answers: a search passes over them unless its path or glob names one. */
const SECRET_FILES =
  ".env .env.* *.env .envrc *.pem *.key *.p12 *.pfx *.p8 *.jks *.keystore *.kdbx *.ppk *.tfstate id_rsa id_dsa id_ecdsa* " +
  "id_ed25519* .netrc _netrc .npmrc .pypirc .yarnrc .pgpass .my.cnf .git-credentials .gitconfig .htpasswd .dockercfg " +
  ".vault-token .terraformrc .bash_history .zsh_history credentials credentials.json client_secret*.json secret.json " +
  "secrets.json secrets.yml secrets.yaml secrets.toml .ssh .aws .azure .gnupg .kube .docker .gcloud .password-store " +
  ".harness .harness-secrets service-account*.json serviceaccount*.json secret.yml secret.yaml secret.toml secret.ini " +
  "secrets.ini";
const PASS_OVER_SECRETS = SECRET_FILES.split(" ").map((name) => `--iglob=!${name}`);

/** A file name ends with NUL: it heads its lines, or stands before its count. */
function readable(record: string, mode: OutputMode, prefix: string): string {
  if (mode === "files") return prefix + record.slice(2);
  const end = record.indexOf("\0");
  if (end === -1) return withoutCutWord(record);
  const file = prefix + record.slice(2, end);
  return mode === "count" ? `${file}: ${record.slice(end + 1)}` : `${file}\n${withoutCutWord(record.slice(end + 1))}`;
}

/** What ripgrep puts behind a line that it cuts, wherever that is. */
const CUT_MARK = / \[\.\.\. (?:omitted end of long line|\d+ more match(?:es)?)\]$/;

function withoutCutWord(line: string): string {
  const mark = CUT_MARK.exec(line);
  return mark === null ? line : withoutCutEnd(line.slice(0, mark.index)) + mark[0];
}
