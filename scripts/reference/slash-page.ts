/** docs/reference/slash-commands.md, from the table of built-in words and the tables of the user's own files. */
import { aliasesTable } from "../../src/artifacts/aliases.ts";
import { commandTable } from "../../src/artifacts/command-file.ts";
import { builtInWords, deedOf, slashUsage } from "../../src/protocol/index.ts";

const EXAMPLE = { model: "m", text: "t", rule: "r", target: undefined } as const;

export function slashPage(): string {
  const rows = builtInWords.map((row) => {
    const args = Object.fromEntries(row.args_schema.required.map((name) => [name, EXAMPLE[name as "model"] ?? "x"]));
    const deed = deedOf(row, args);
    const by = deed.by === "command" ? `\`${deed.command.kind}\`` : deed.by === "client" ? "the client" : "the engine";
    return `| \`${slashUsage(row).replaceAll("|", "\\|")}\` | ${row.description} | ${by} |`;
  });
  const fields = (table: {
    readonly fields: Readonly<Record<string, { readonly default?: string; readonly meaning: string }>>;
  }) =>
    Object.entries(table.fields).map(([key, field]) => `| \`${key}\` | ${field.default ?? "–"} | ${field.meaning} |`);
  return `# Slash commands

<!-- Made by \`npm run docs\` from the tables in the code. Change those, not this page. -->

In a conversation, a line that begins with \`/\` is a command and does not reach the model. \`/help\` lists the commands of the session. A word
without a namespace belongs to Harness or is one of your [aliases](#aliases). In \`/namespace:name\`, the namespace says where the command comes
from: \`user\` from your own files, \`project\` from the project, \`mcp\` from your [MCP servers](mcp.md#in-a-conversation), any other one from
Harness or a [plugin](../guide/plugins.md). \`/mcp:SERVER:PROMPT\` is a [prompt](mcp.md#prompts) of a server.

## Built-in commands

| command | effect | carried out by |
| --- | --- | --- |
${rows.join("\n")}

\`/exit\` is the same as \`/quit\`.

## Commands in Markdown

Each file \`$XDG_CONFIG_HOME/harness/commands/NAME.md\` is a prompt that you send with \`/user:NAME\`. Names have small letters, digits, \`-\`
and \`_\`; at most 200 files of 256 KiB are read, when the program starts.

Each file \`.harness/commands/NAME.md\` or \`.claude/commands/NAME.md\` of a project is \`/project:NAME\`; \`git/commit.md\` is
\`/project:git:commit\`. If both folders have the name, \`.harness\` counts. The command exists once you have
[allowed the file](../guide/trust.md#files-for-other-agents); if the file changes, its last allowed version stays until you answer.

| key of the frontmatter | default | meaning |
| --- | --- | --- |
${fields(commandTable).join("\n")}

In the prompt, \`$ARGUMENTS\` stands for everything behind the command, and \`$1\` to \`$9\` for single words. If the prompt has none of them,
the arguments follow it. \`@file\` adds the file to the turn, by the rules of \`fs.read\`. Commands in
\`!\`…\`\` are not run. A command of this kind starts a turn like any other input.

## Aliases

\`$XDG_CONFIG_HOME/harness/aliases.toml\` has short forms:

\`\`\`toml
[aliases]
r = "/user:review src"
\`\`\`

| key | default | meaning |
| --- | --- | --- |
${fields(aliasesTable).join("\n")}

\`/r deep\` then runs \`/user:review src deep\`. An alias may stand for another alias. Harness does not start (exit 2) if an alias has the name
of a built-in command, stands for one, or leads in a circle. Harness also refuses files of this folder that other users may write.

## For other clients

\`GET /v1/slash-commands?session=ID\` lists the commands of an open session: \`namespace\`, \`name\`, \`description\` and \`args_schema\`. Arguments
stand in the order of \`properties\`; the last one takes the rest of the line. [\`RunSlashCommand\`](protocol.md#commands) runs one. Its reply
says what the client does next, in this order: shows \`text\`, submits \`command\`, continues in \`session\`, sends \`input\`. The client itself
carries out \`/help\`, \`/clear\` and \`/quit\`.

[\`CompleteInput\`](protocol.md#completeinput) says what can stand in the place of a typed input: whole lines, with commands, their arguments
\`@path\` and \`@server:uri\`. Only people may send it. The session lists the workspace at most once in 5 seconds for it, in the sandbox and by
the rules of \`fs.glob\`, and leaves out secret files and those that a rule hides.
`;
}
