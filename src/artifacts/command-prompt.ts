/** What a slash command in Markdown sends: its prompt with the arguments that were typed. */

/**
 * The prompt with its arguments: `$ARGUMENTS` is all of them, `$1` to `$9` are single ones. A prompt that has neither gets them at its
 * end. What comes with an argument is not looked at again.
 */
export function expandCommand(body: string, given: string): string {
  const single = given.trim() === "" ? [] : given.trim().split(/\s+/);
  let isUsed = false;
  const text = body.replace(/\$(ARGUMENTS|[1-9])(?!\w)/g, (_, which: string) => {
    isUsed = true;
    return which === "ARGUMENTS" ? given.trim() : (single[Number(which) - 1] ?? "");
  });
  return isUsed || single.length === 0 ? text : `${text}\n\n${given.trim()}`;
}
