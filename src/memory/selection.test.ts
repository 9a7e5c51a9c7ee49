import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Memory } from "#base";
import { labelledMemories, labelledQueries, otherMemories } from "../../bench/memory-set.ts";
import { fifthMemories } from "../../bench/memory-set-fifth.ts";
import { fifthInputs } from "../../bench/memory-set-fifth-inputs.ts";
import { fourthMemories } from "../../bench/memory-set-fourth.ts";
import { fourthInputs, inputsWithoutMemory } from "../../bench/memory-set-fourth-inputs.ts";
import { thirdMemories } from "../../bench/memory-set-third.ts";
import { thirdInputs } from "../../bench/memory-set-third-inputs.ts";
import { thirdOthers } from "../../bench/memory-set-third-others.ts";
import { commonWordsText } from "../../scripts/common-words.ts";
import { computingTime } from "../../test/fakes/computing-time.ts";
import { createRanking } from "./ranking.ts";
import { chooseMemories, coreMemories } from "./selection.ts";
import { joinedWordsOf, stem, wordsOf } from "./words.ts";

const memory = (name: string, parts: Partial<Memory> = {}): Memory => ({
  ...{ name, description: name, type: "project", tags: [], scope: "user", tier: "long-term" },
  ...{ source: "a person", labels: [], body: "" },
  ...parts,
});

const choose = (memories: readonly Memory[], input: string, known: readonly string[] = [], maxTokens = 1_000) =>
  chooseMemories(createRanking(memories), { input, maxTokens, isKnown: ({ name }) => known.includes(name) });

test.each([
  ["deployed", "deploys"],
  ["policies", "policy"],
  ["caching", "caches"],
  ["stopped", "stop"],
  ["migration", "migrate"],
])("%s and %s are forms of one word", (one, other) => {
  expect(stem(one)).toBe(stem(other));
});

test("words are folded and split", () => {
  expect(wordsOf("Über the maxRetries, naïve")).toEqual(["uber", "maxretri", "max", "retri", "naiv"].map(String));
});

test("neighbours are one word where that was written, an article and its noun are not", () => {
  expect(joinedWordsOf("who is on call")).toContain("oncal");
  expect(joinedWordsOf("a pie chart")).toEqual([stem("piechart")]);
});

test("a tag in the input chooses a memory, and says so", () => {
  const [first] = choose([memory("a", { tags: ["postgres"] }), memory("b")], "Restart postgres, please");
  expect(first).toMatchObject({ isChosen: true, why: "tags: postgres", memory: { name: "a" } });
});

test("a keyword in the input chooses a memory", () => {
  const memories = [memory("a", { keywords: ["charged twice", "double booking"] }), memory("b")];
  expect(choose(memories, "a customer was charged twice")[0]).toMatchObject({ isChosen: true, memory: { name: "a" } });
});

test("the third set is whole: 1,000 memories, and 200 inputs with a memory each", () => {
  const names = [...thirdMemories, ...thirdOthers].map(({ name }) => name);
  expect(new Set(names).size).toBe(1_000);
  expect(thirdInputs.map(([wanted]) => wanted).toSorted()).toEqual(thirdMemories.map(({ name }) => name).toSorted());
});

test("the fourth and the fifth set are whole: 200 inputs each, to a memory of the set", () => {
  const sets = [
    [fourthMemories, fourthInputs],
    [fifthMemories, fifthInputs],
  ] as const;
  for (const [memories, inputs] of sets) {
    expect(inputs).toHaveLength(200);
    expect(new Set(inputs.map(([wanted]) => wanted))).toEqual(new Set(memories.map(({ name }) => name)));
  }
  expect(new Set(inputsWithoutMemory).size).toBe(100);
});

test("a misspelled word still finds its memory", () => {
  const memories = [memory("a", { description: "Kubernetes runs in Frankfurt" }), memory("b")];
  expect(choose(memories, "which kubernets is in frankfrut?")[0]).toMatchObject({ isChosen: true });
});

test("one common word is not enough", () => {
  const memories = Array.from({ length: 5 }, (_, at) => memory(`m${at}`, { description: `service number ${at}` }));
  expect(choose(memories, "tell me about the service")).toEqual([]);
});

test("one word that no other memory has is enough, and one of many is not", () => {
  const others = Array.from({ length: 30 }, (_, at) => memory(`m${at}`, { description: `service number ${at}` }));
  const memories = [...others, memory("a", { description: "The service has quarterly restore drills" })];
  const chosen = choose(memories, "can we restore it?").filter(({ isChosen }) => isChosen);
  expect(chosen).toMatchObject([{ memory: { name: "a" }, why: "words: restore" }]);
});

test("a related word finds a memory, and the reason names both", () => {
  const others = Array.from({ length: 30 }, (_, at) => memory(`m${at}`, { description: `service number ${at}` }));
  const memories = [...others, memory("a", { description: "Deployments need Priya" })];
  expect(choose(memories, "can we ship it?")).toMatchObject([
    { memory: { name: "a" }, isChosen: true, why: "words: ship ~ deployments" },
  ]);
});

test("a word that is common in English says little, also where only one memory has it", () => {
  const others = Array.from({ length: 30 }, (_, at) => memory(`m${at}`, { description: `service number ${at}` }));
  const memories = [...others, memory("a", { body: "The people of the restaurant like it" })];
  const names = (input: string) => choose(memories, input).map((one) => one.memory.name);
  expect(names("how many people came?")).toEqual([]);
  expect(names("which restaurant is it?")).toEqual(["a"]);
});

test("the common words are what their script makes", () => {
  const file = join(import.meta.dirname, "common-words.ts");
  expect(readFileSync(file, "utf8")).toBe(commonWordsText());
});

test("what the conversation has, what does not fit and what matches worse is left out, with the reason", () => {
  const body = "long ".repeat(100);
  const memories = [
    memory("known", { tags: ["redis"] }),
    memory("long", { tags: ["redis"], body }),
    memory("short", { tags: ["redis"] }),
  ];
  const chosen = choose(memories, "redis", ["known"], 50);
  expect(Object.fromEntries(chosen.map((one) => [one.memory.name, one.why]))).toEqual({
    known: "the conversation has it already",
    long: "it does not fit into the 50 tokens for a turn",
    short: "tags: redis",
  });
});

test("core memories fill their budget in a fixed order and are not chosen again", () => {
  const body = "x".repeat(5_000);
  const memories = ["a", "b", "c"].map((name) => memory(name, { tier: "core", tags: ["redis"], body }));
  expect(coreMemories(memories).map(({ isChosen }) => isChosen)).toEqual([true, false, false]);
  expect(choose(memories, "redis")).toEqual([]);
});

test("the same input chooses the same, whatever the order of the memories", () => {
  const memories = otherMemories(50);
  const names = (of: readonly Memory[]) => choose(of, "the pricing importer times out").map((one) => one.memory.name);
  expect(names(memories)).toEqual(names(memories.toReversed()));
});

test("the labelled inputs choose their memory among the first five of 1,000, in time", () => {
  const ranking = createRanking([...labelledMemories, ...otherMemories(900)]);
  const found = labelledQueries.filter(({ text: input, wanted }) =>
    chooseMemories(ranking, { input, maxTokens: 1_500, isKnown: () => false }).some(
      ({ memory: { name }, isChosen }) => isChosen && name === wanted,
    ),
  );
  expect(labelledQueries).toHaveLength(200);
  expect(found.length / labelledQueries.length).toBeGreaterThanOrEqual(0.9);
  const joined = inputsWithoutMemory.flatMap((input) =>
    chooseMemories(ranking, { input, maxTokens: 1_500, isKnown: () => false }).filter(({ isChosen }) => isChosen),
  );
  // Of at most 500.
  expect(joined.length).toBeLessThanOrEqual(210);
  const ms = computingTime();
  for (const { text } of labelledQueries)
    chooseMemories(ranking, { input: text, maxTokens: 1_500, isKnown: () => false });
  expect(ms() / labelledQueries.length).toBeLessThan(10);
});

test("a hostile input and hostile memories are compared in bounded time", () => {
  const words = Array.from({ length: 5_000 }, (_, at) => `wörd${at}`).join(" ");
  const ranking = createRanking(
    Array.from({ length: 100 }, (_, at) => memory(`m${at}`, { body: words.slice(0, 8_000) })),
  );
  const ms = computingTime();
  chooseMemories(ranking, { input: `${words} ${"a".repeat(100_000)}`, maxTokens: 1_000, isKnown: () => false });
  expect(ms()).toBeLessThan(2_000);
});
