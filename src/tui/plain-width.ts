/** The width of texts whose characters all have one column, which are most: letters of Latin scripts and the signs of the interface. Pure. */

/** No combining marks, no wide characters, no emoji, no controls: each of them is one column in every terminal. */
const PLAIN =
  /^[ -~\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2030-\u205e\u2190-\u21ff\u2500-\u257f\u2800-\u28ff\u2713\u2717]*$/;
const ESC = "\u001b";
const STYLE = new RegExp(`${ESC}\\[[0-9;]*m`, "g");

/** Undefined for a text of which this is not known. Colours and styles have no width. */
export function plainWidth(text: string): number | undefined {
  const bare = text.includes(ESC) ? text.replace(STYLE, "") : text;
  return PLAIN.test(bare) ? bare.length : undefined;
}
