/** The moments at which the campaign of full disks takes one away, each with what a client does then. */
import { setTimeout as pause } from "node:timers/promises";
import { type DiskPoint, LOOK_EVERY_MS, PATIENCE_MS, seen, sendInput, words } from "./disk-point.ts";
import { readOnlyPoints } from "./disk-read-only-points.ts";
import { sidePoints } from "./disk-side-points.ts";
import { wirePoints } from "./disk-wire-points.ts";

const logPoints: readonly DiskPoint[] = [
  {
    name: "before an input",
    needs: [],
    async run(context) {
      context.fill();
      for (const size of [10, 4_000, 60_000]) await sendInput(context, `hi ${words(size)}`);
    },
  },
  {
    name: "before an input that nobody waits for",
    needs: [],
    async run(context) {
      const { daemon, session } = context;
      context.fill(8 * 1024);
      for (let tries = 0; tries < 3; tries++) {
        const text = `hi ${words(20_000)}`;
        const answer = await daemon.input(session, text, "");
        if (answer.status !== 202) context.expectRefusal("an input", answer);
        else {
          context.acknowledged("an input", session, (log) =>
            log.some(({ kind, payload }) => kind === "TurnStarted" && payload.content[0].text === text),
          );
        }
        await pause(50);
      }
    },
  },
  {
    name: "while a call runs",
    needs: [],
    async run(context) {
      const turn = sendInput(context, "slow work");
      await seen(context, "ToolIntent");
      context.fill(16 * 1024);
      await turn;
    },
  },
  {
    name: "while an input waits",
    needs: [],
    async run(context) {
      const { daemon, session } = context;
      const running = daemon.input(session, "slow work");
      await seen(context, "ToolIntent");
      const text = `waits ${words(40_000)}`;
      const { status } = await daemon.input(session, text, "?mode=queue");
      if (status !== 202) context.fail(`the input was not queued: ${status}`);
      // It was acknowledged: it begins by itself, once.
      context.acknowledged("a queued input and its turn", session, (log) => {
        const queued = log.find(({ kind, payload }) => kind === "InputQueued" && payload.content[0].text === text);
        return log.filter(({ kind, payload }) => kind === "TurnStarted" && payload.queued === queued?.id).length === 1;
      });
      context.fill(8 * 1024);
      await running;
      await pause(200 + context.random() * 2_500);
    },
  },
  {
    name: "before an input is queued",
    needs: [],
    async run(context) {
      const { daemon, session } = context;
      context.fill(64 * 1024);
      for (const size of [10, 50_000]) {
        const text = `queued ${words(size)}`;
        const answer = await daemon.input(session, text, "?mode=queue");
        if (answer.status !== 202) context.expectRefusal("queueing", answer);
        else
          context.acknowledged("a queued input", session, (log) =>
            log.some(({ kind, payload }) => kind === "InputQueued" && payload.content[0].text === text),
          );
      }
    },
  },
  {
    name: "in the middle of an answer",
    needs: [],
    async run(context) {
      const turn = sendInput(context, `echo ${words(3_500)}`);
      await seen(context, "TurnStarted");
      context.fill(6 * 1024);
      await turn;
    },
  },
  {
    name: "while a record for undo is kept",
    needs: [],
    async run(context) {
      context.fill(260 * 1024);
      await sendInput(context, "work");
    },
  },
  {
    name: "while a permission is answered",
    needs: [],
    async run(context) {
      const { daemon, session } = context;
      const turn = sendInput(context, `ask ${words(2_000)}`);
      const asked = await seen(context, "PermissionRequested");
      context.fill(4 * 1024);
      const answer = { call_id: asked.payload.call_id, decision: "allow_once" };
      const { status } = await daemon.ask("POST", `/v1/sessions/${session}/permission`, answer);
      if (status !== 202 && status !== 507) context.fail(`the answer got ${status}`);
      await turn;
    },
  },
  {
    name: "while somebody follows the events",
    needs: ["data"],
    async run(context) {
      const { daemon, session } = context;
      const stream = await daemon.follow(session);
      const turn = sendInput(context, "slow work");
      await seen(context, "ToolIntent");
      context.fill(0);
      await turn;
      daemon.disk.makeRoom();
      // Whoever follows learns by itself how the turn ended.
      for (let waitedMs = 0; !stream.kinds().includes("TurnEnded"); waitedMs += LOOK_EVERY_MS) {
        if (waitedMs > PATIENCE_MS) return context.fail("the stream was not told how the turn ended");
        await pause(LOOK_EVERY_MS);
      }
      stream.stop();
    },
  },
  {
    name: "while a session is made",
    needs: [],
    async run(context) {
      const { daemon } = context;
      context.fill(24 * 1024);
      for (let tries = 0; tries < 6; tries++) {
        const answer = await daemon.ask("POST", "/v1/sessions", { working_dir: daemon.workspace });
        if (answer.status !== 201) context.expectRefusal("making a session", answer);
        else
          context.acknowledged("a session", String(answer.json.id), (log) =>
            log.some(({ kind }) => kind === "SessionStarted"),
          );
      }
    },
  },
  {
    name: "while a session ends",
    needs: [],
    async run(context) {
      const { daemon } = context;
      const other = await daemon.newSession();
      await daemon.input(other, "work");
      context.fill(4 * 1024);
      const answer = await daemon.ask("DELETE", `/v1/sessions/${other}`);
      if (answer.status !== 204) context.expectRefusal("ending a session", answer);
      daemon.disk.makeRoom();
      const again = await daemon.ask("POST", "/v1/sessions", { resume: other });
      if (again.status !== 200) context.fail(`the session does not open again: ${JSON.stringify(again.json)}`);
    },
  },
  {
    name: "while a turn is undone",
    needs: [],
    async run(context) {
      const { daemon, session } = context;
      await daemon.input(session, "work");
      context.fill(12 * 1024);
      const answer = await daemon.ask("POST", `/v1/sessions/${session}/undo`, {});
      if (answer.status !== 202) return context.expectRefusal("undo", answer);
      context.acknowledged("an undo", session, (log) => log.some(({ kind }) => kind === "WorkspaceRestored"));
    },
  },
  {
    name: "while settings of a session change",
    needs: [],
    async run(context) {
      const { daemon, session } = context;
      context.fill(2 * 1024);
      for (const active of [true, false]) {
        const answer = await daemon.ask("POST", `/v1/sessions/${session}/plan-mode`, { active });
        if (answer.status !== 202) context.expectRefusal("plan mode", answer);
        // One that is on already is no change, and not recorded.
        else if (active) {
          context.acknowledged("plan mode", session, (log) => log.some(({ kind }) => kind === "PlanModeChanged"));
        }
      }
      daemon.disk.makeRoom();
      await daemon.ask("POST", `/v1/sessions/${session}/plan-mode`, { active: false });
    },
  },
  {
    name: "while old content goes",
    needs: ["data"],
    async run(context) {
      const { daemon } = context;
      context.fill(0);
      const { code, err } = await daemon.run("sessions", "expire");
      // What there is may be changed in place.
      if (code !== 0 && !/no space is left/.test(err)) context.fail(`retention: ${code} ${err}`);
      daemon.disk.makeRoom();
      const again = await daemon.run("sessions", "expire");
      if (again.code !== 0) context.fail(`retention afterwards: ${again.err}`);
    },
  },
  {
    name: "while the daemon starts",
    needs: [],
    async run(context) {
      const { daemon } = context;
      await daemon.stop();
      context.fill(0);
      const problem = await daemon.start();
      if (problem !== undefined && !/StoreFailed.*no space is left/s.test(problem)) {
        context.fail(`a start on a full disk: ${problem}`);
      }
      daemon.disk.makeRoom();
      const again = problem === undefined ? undefined : await daemon.start();
      if (again !== undefined) context.fail(`it does not start afterwards: ${again}`);
      await daemon.ask("POST", "/v1/sessions", { resume: context.session });
    },
  },
  {
    name: "while the daemon stops",
    needs: [],
    async run(context) {
      const { daemon, session } = context;
      await daemon.input(session, "work");
      context.fill(0);
      const ended = await daemon.stop();
      if (!/code [01], signal null/.test(ended)) context.fail(`it did not stop: ${ended}`);
      daemon.disk.makeRoom();
      const again = await daemon.start();
      if (again !== undefined) context.fail(`it does not start afterwards: ${again}`);
      await daemon.ask("POST", "/v1/sessions", { resume: session });
    },
  },
];

export const diskPoints: readonly DiskPoint[] = [...logPoints, ...sidePoints, ...wirePoints, ...readOnlyPoints];
