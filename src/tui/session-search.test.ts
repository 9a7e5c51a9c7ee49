/** The search in what was said in sessions: what it finds, where it stops, and how people use it. */
import { expect, test } from "vitest";
import type { ClientSession, SessionInfo } from "#client";
import type { Event } from "#protocol";
import { expectGolden, playScene, type Scene, sceneEvent } from "../../test/fakes/golden-screens.ts";
import { KEYS } from "../../test/fakes/screen-terminal.ts";
import { searchSessions } from "./session-search.ts";

const id = (letter: string): string => `sess_01ARZ3NDEKTSV4RRFFQ69G5FA${letter}`;
const info = (letter: string, title: string): SessionInfo =>
  ({
    id: id(letter),
    title,
    model: "m",
    state: "active",
    working_dir: "/work/here",
    updated_at: "2026-01-01T10:00:00Z",
  }) as SessionInfo; // only what the list reads
const delta = (at: number, text: string, block = 0): Event =>
  sceneEvent(at, "TextDelta", { turn: "turn_1", step: 1, block, text });

const logs: Readonly<Record<string, readonly Event[]>> = {
  [id("A")]: [
    sceneEvent(1, "TurnStarted", { turn: "turn_1", content: [{ type: "text", text: "Rename the PARSER\u001b[31m" }] }),
    sceneEvent(2, "ToolResult", { turn: "turn_1", content: [{ type: "text", text: "only a tool said zebra" }] }),
  ],
  [id("B")]: [delta(1, "The answer is cut: the pars"), delta(2, "er is in `parse.ts`."), delta(3, "another", 1)],
  [id("C")]: [sceneEvent(1, "ToolCallStarted", { turn: "turn_1", label: "Bash", args: { command: "npm run bench" } })],
};
const sessions = [info("A", "Renaming"), info("B", "Where is it"), info("C", "Figures")];

function clientOf(reads: string[] = [], onRead: () => void = () => undefined) {
  const session = (name: string) =>
    ({
      id: name,
      info: async () => ({ working_dir: "/work/here" }),
      async *log() {
        reads.push(name);
        onRead();
        yield* logs[name] ?? [];
      },
    }) as unknown as ClientSession;
  return { session };
}

const search = (words: string, signal = new AbortController().signal) =>
  searchSessions(clientOf(), sessions, words, signal);

test.each([
  ["parser", ["A", "B"]],
  ["parser PARSE.TS", ["B"]],
  ["bench", ["C"]],
  ["zebra", []],
  ["rename bench", []],
])("%s", async (words, letters) => {
  const { found, searched } = await search(words);
  expect(found.map(({ info: one }) => one.id)).toEqual(letters.map(id));
  expect(searched).toBe(3);
});

test("a cancelled search reads no further session", async () => {
  const reads: string[] = [];
  const stop = new AbortController();
  const client = clientOf(reads, () => stop.abort());
  expect(await searchSessions(client, sessions, "nothing", stop.signal)).toMatchObject({ searched: 1, of: 3 });
  expect(reads).toEqual([id("A")]);
});

test("a long log is read to its bound, and the report says how many sessions were left", async () => {
  let read = 0;
  const endless = {
    session: () =>
      ({
        async *log() {
          for (;;) yield sceneEvent(++read, "ModelChanged", {});
        },
      }) as unknown as ClientSession,
  };
  const many = Array.from({ length: 20 }, () => info("A", ""));
  const { searched, of } = await searchSessions(endless, many, "x", new AbortController().signal);
  expect([read, searched, of]).toEqual([200_000, 10, 20]);
});

function scene(keys: readonly string[]): Scene {
  const client = { ...clientOf(), sessions: async () => sessions };
  return { parts: { client } as unknown as Scene["parts"] & object, session: client.session(id("Z")), keys };
}

test("what was found, with the words around it", () =>
  expectGolden("search", scene(["\u001br", "parser", KEYS.enter])));

test("the picker of sessions leads to the search", async () => {
  expect(await playScene(scene(["\u001bs", "\u0006"]))).toContain("Enter searches.");
});

test("nothing is searched before Enter, and other words need another one", async () => {
  expect(await playScene(scene(["\u001br", "parser"]))).toContain("Enter search");
  expect(await playScene(scene(["\u001br", "parser", KEYS.enter, "s"]))).toContain("Enter search");
  expect(await playScene(scene(["\u001br", "zebra", KEYS.enter]))).toContain("Nothing was found.");
});
