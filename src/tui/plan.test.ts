/** A plan as a person sees and answers it, on a real session and as screens; and what stands since before an interface came. */
import { expect, onTestFinished, test } from "vitest";
import type { ClientSession } from "#client";
import { expectGolden, playScene, type Scene } from "../../test/fakes/golden-screens.ts";
import { calls, says } from "../../test/fakes/harness-rig.ts";
import { startInterface } from "../../test/fakes/interface-rig.ts";
import type { MockReply } from "../../test/fakes/mock-reply.ts";
import { KEYS } from "../../test/fakes/screen-terminal.ts";

const PLAN = "## Rename the parser\n\n1. Read `src/parse.ts`\n2. Rename it\n3. Run the tests\u202e";
const ALT_L = "\u001bl";
const asked: Scene["events"] = [["QuestionAsked", { turn: "turn_1", call_id: "call_1", question: "?", plan: PLAN }]];
const waits: Scene["events"] = [["PlanChanged", { state: "proposed", plan: PLAN, call_id: "call_1" }]];
const agreed: Scene["events"] = [["PlanChanged", { state: "agreed", plan: PLAN, call_id: "call_1" }]];

test("a plan that waits for approval", () => expectGolden("plan-question", { events: asked }));
test("the plan in the editor", () => expectGolden("plan-edit", { events: asked, keys: ["e"] }));
test("what is wrong with the plan", () => expectGolden("plan-why-not", { events: asked, keys: ["w", "too big"] }));
test("an agreed plan stays above the editor", () => expectGolden("plan-agreed", { events: agreed, keys: ["typed"] }));
test("an agreed plan as a whole", () => expectGolden("plan-screen", { events: agreed, keys: [ALT_L] }));
test("a plan that waits on the record", () => expectGolden("plan-waits", { events: waits }));

/** What is submitted for these keys. */
async function submitted(events: Scene["events"], keys: readonly string[]): Promise<readonly unknown[]> {
  const seen: unknown[] = [];
  const session: Partial<ClientSession> = {
    submit: (async (command: { readonly kind: string }) => {
      if (command.kind === "CompleteInput") return { result: [] };
      if (command.kind !== "DescribeSession") seen.push(command);
      return {};
    }) as unknown as ClientSession["submit"],
    queue: (async (text: string) => seen.push(text)) as unknown as ClientSession["queue"],
  };
  await playScene({ ...(events !== undefined && { events }), keys, session });
  return seen;
}

const exit = { kind: "ExitPlanMode", call_id: "call_1", approve: true };
const shown = PLAN.replace("\u202e", "⟨U+202E⟩");

test.each([
  ["approved", asked, ["a"], [exit]],
  ["approved as it was written", asked, ["e", KEYS.enter], [exit]],
  ["approved with a change", asked, ["e", "!", KEYS.enter], [{ ...exit, plan: `${shown}!` }]],
  ["not approved empty", asked, ["e", ...Array<string>(10).fill("\u0017"), KEYS.escape], []],
  ["rejected with a reason", asked, ["w", "too big", KEYS.enter], [{ ...exit, approve: false, reason: "too big" }]],
  ["rejected without one", asked, ["w", KEYS.enter], [{ ...exit, approve: false }]],
  ["left as it is", asked, [KEYS.escape, "x"], []],
  ["approved from its screen", asked, ["d", "a"], [exit]],
  ["approved later", waits, [ALT_L, "a"], [exit]],
  ["changed later", waits, [ALT_L, "e", "!", KEYS.enter], [{ ...exit, plan: `${shown}!` }]],
  [
    "rejected later: the reason is the next input",
    waits,
    ["/plan show", KEYS.enter, "w", "too big", KEYS.enter],
    [{ kind: "ClosePlan", as: "dropped" }, "too big"],
  ],
  ["left for later", waits, [ALT_L, "w", KEYS.escape, KEYS.escape], []],
  ["done", agreed, [ALT_L, "x"], [{ kind: "ClosePlan", as: "done" }]],
  ["dropped", agreed, [ALT_L, "\u0018"], [{ kind: "ClosePlan", as: "dropped" }]],
  ["not answered when it is agreed", agreed, [ALT_L, "a", KEYS.escape], []],
])("a plan is %s", async (_, events, keys, commands) => {
  expect(await submitted(events, keys)).toEqual(commands);
});

test("a plan is written as it should be, approved and pinned; what was typed before comes back", async () => {
  const gate = Promise.withResolvers<void>();
  onTestFinished(() => gate.resolve());
  const proposes = { ...calls(["plan", { plan: "1. Look\n2. Change" }]), headersAfter: gate.promise } as MockReply;
  const { session, screen, settle } = await startInterface([proposes, says("I will.")]);
  await session.submit({ kind: "EnterPlanMode" });
  screen.type("change it", KEYS.enter);
  await screen.shows(/waiting for the model/);
  screen.type("a draft");
  gate.resolve();
  await screen.shows(/Approve this plan\?[\s\S]*│ 2\. Change[\s\S]*\[e\] edit and approve/);
  settle();
  screen.type("e", KEYS.shiftEnter, "3. Test", KEYS.enter);
  await screen.shows(/: plan agreed: Look {2}Alt-L shows it/);
  await screen.shows(/I will\.[\s\S]*^a draft$/m);
  const { agreed_plan, mode } = (await session.submit({ kind: "DescribeSession" })).result;
  expect({ agreed_plan, mode }).toEqual({ agreed_plan: "1. Look\n2. Change\n3. Test", mode: "ask" });
});

test("Shift-Tab goes through the modes", async () => {
  const { screen } = await startInterface([]);
  await screen.shows(/ · ask · /);
  for (const mode of ["plan", "accept-edits", "ask"]) {
    screen.type("\u001b[Z");
    await screen.shows(new RegExp(`mode: [\\w-]+ → ${mode}`));
  }
});
