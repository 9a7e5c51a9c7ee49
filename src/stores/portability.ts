/** What takes sessions out of the log and brings them in. Loaded on demand: a run does not pay for it. */

/** The JSONL store, export, import, branch, replay and transcript. */
export async function loadPortability() {
  const [archive, branch, exporting, lines, importing, jsonl, replay, transcripts] = await Promise.all([
    import("./archive.ts"),
    import("./branch.ts"),
    import("./export.ts"),
    import("./file-lines.ts"),
    import("./import.ts"),
    import("./jsonl/store.ts"),
    import("./replay.ts"),
    import("./transcript.ts"),
  ]);
  return {
    readRecords: archive.readRecords,
    branchSession: branch.branchSession,
    exportLines: exporting.exportLines,
    readTextLines: lines.readTextLines,
    importSession: importing.importSession,
    openJsonlStore: jsonl.openJsonlStore,
    createReplay: replay.createReplay,
    transcript: transcripts.transcript,
  };
}
