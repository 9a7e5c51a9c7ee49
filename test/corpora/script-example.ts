/** One example of a script, as text, with what it does or why it is refused. */
import type { ExampleText } from "../fakes/script-example.ts";

export type ScriptExample = ExampleText & { readonly name: string } & (
    | { readonly does: readonly (readonly [given: unknown, expected: unknown])[] }
    | { readonly refused: string; readonly why: string }
  );

/** A file: its head, whose last key is the script. */
export function artifact(head: string, script: string): string {
  const body = script
    .trim()
    .split("\n")
    .map((line) => `  ${line}`)
    .join("\n");
  return `---\n${head}script: |\n${body}\n---\n\n# example\n`;
}
