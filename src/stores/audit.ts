/** What checks the evidence of a session. Loaded on demand: a run does not pay for it. */

/** The verifier, the reader of exports and the form of anchors. */
export async function loadAudit() {
  const [checkpoint, lines, verify] = await Promise.all([
    import("./checkpoint.ts"),
    import("./evidence-lines.ts"),
    import("./verify.ts"),
  ]);
  return {
    anchorLine: checkpoint.anchorLine,
    isPublicKey: checkpoint.isPublicKey,
    parseAnchors: checkpoint.parseAnchors,
    readEvidenceLines: lines.readEvidenceLines,
    verifyEvidence: verify.verifyEvidence,
  };
}
