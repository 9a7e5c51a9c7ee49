/** What a person sees after a program has written to a terminal: the few control sequences that this program uses, and no scrolling. */
const ESCAPE = "\u001b";
const SEQUENCE = new RegExp(`${ESCAPE}\\[(\\?)?(\\d*)(?:;\\d*)*([A-Za-z])|[\\r\\n]|[^${ESCAPE}\\r\\n]`, "gu");

/** The rows, without empty ones at the end. */
export function shownScreen(written: string, columns: number): readonly string[] {
  let rows: string[] = [""];
  let row = 0;
  let column = 0;
  const cut = (text: string, at: number): string => text.padEnd(at).slice(0, at);
  for (const [token, isPrivate, count, command] of written.matchAll(SEQUENCE)) {
    const by = Number(count === "" ? 1 : count);
    if (token === "\r") column = 0;
    else if (token === "\n") row += 1;
    else if (command === undefined) {
      if (column === columns) {
        row += 1;
        column = 0;
      }
      rows[row] = cut(rows[row] ?? "", column) + token + (rows[row] ?? "").slice(column + 1);
      column += 1;
    } else if (isPrivate === undefined && command === "A") row = Math.max(0, row - by);
    else if (command === "B") row += by;
    else if (command === "C") column += by;
    else if (command === "D") column = Math.max(0, column - by);
    else if (command === "G") column = by - 1;
    else if (command === "K" || command === "J") {
      rows[row] = cut(rows[row] ?? "", column);
      if (command === "J") rows = rows.slice(0, row + 1);
    } else if (!isPrivate && command !== "m") throw new Error(`an unknown control sequence: ${JSON.stringify(token)}`);
    while (rows.length <= row) rows.push("");
  }
  while (rows.at(-1)?.trim() === "") rows.pop();
  return rows.map((text) => text.trimEnd());
}
