/** `«redacted:KIND»`: what stands where a secret was, in everything that is stored, shown or sent. */
export const MARKER_OPENS = "«redacted:";
export const MARKER_CLOSES = "»";
export const MARKER_MAX_KIND_CHARS = 64;

export function redactionMarker(kind: string): string {
  return MARKER_OPENS + kind + MARKER_CLOSES;
}

/** What reads like a marker, of whatever kind. A new expression each time: one that is shared remembers where it was. */
export function markerPattern(): RegExp {
  return new RegExp(`${MARKER_OPENS}[^${MARKER_CLOSES}]{1,${MARKER_MAX_KIND_CHARS}}${MARKER_CLOSES}`, "g");
}

export function hasMarker(text: string): boolean {
  return text.includes(MARKER_OPENS) && markerPattern().test(text);
}
