/** An allowed command swaps a folder for a link, again and again, while the program works in it for another session. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type Arena, createArena } from "./arena.ts";
import type { SceneOutcome } from "./campaign.ts";
import { changes, printedSecret, treeOf } from "./effects.ts";
import { runProgram } from "./program.ts";
import type { Attempt } from "./scene.ts";

interface Race {
  readonly group: string;
  readonly name: string;
  /** Plain Bash in the workspace before both sessions. */
  readonly prepare: string;
  /** Python that the first session runs; `again()` is true until the time is over. */
  readonly racer: string;
  readonly flags: readonly string[];
  /** What the second session does in its n-th step. */
  readonly call: (step: number) => Attempt;
}

const STEPS = 400;
const START_LIMIT_MS = 20_000;
const POLL_MS = 20;
const GRACE_MS = 5_000;
const group = "races";
const bash = ["--allow", "Bash"];

/** Exchanges each folder with a link of the same name and `.l`. */
const exchange = (names: readonly string[]): string =>
  [
    "import ctypes, random",
    "libc = ctypes.CDLL(None)",
    `names = ${JSON.stringify(names)}`,
    "while again():",
    "    for name in names:",
    "        libc.renameat2(-100, name.encode(), -100, (name + '.l').encode(), 2)",
    "    time.sleep(random.random() * 0.002)",
  ].join("\n");

/** Puts a link where the program is about to write the settings of a repository that was begun. */
const plantConfig = (target: string): string =>
  [
    "i = 0",
    "while again():",
    "    try:",
    `        os.symlink('${target}', 'n%d/.git/config' % i)`,
    "        i += 1",
    "    except OSError:",
    "        if os.path.isdir('n%d/.git' % (i + 1)): i += 1",
  ].join("\n");

const beginRepository = [
  "i=$(ls -d n[0-9]* 2>/dev/null | wc -l); mkdir -p tmpn; git init -q tmpn/r",
  "printf '[user]\\n\\tname = $(touch PWN)\\n[alias]\\n\\tx = !true\\n' >> tmpn/r/.git/config; mv tmpn/r n$i",
].join("\n");

const fileCalls: readonly ((step: number) => Attempt)[] = [
  (step) => ({ tool: "fs.read", args: { path: "d/canary", limit: 1 + step } }),
  (step) => ({ tool: "fs.search", args: { pattern: `SECRET|x${step}`, path: "d" } }),
  (step) => ({ command: `cat d/canary #${step}` }),
  (step) => ({ tool: "fs.write", args: { path: `d/new${step}`, content: "PWN" } }),
  (step) => ({ tool: "fs.write", args: { path: "d/canary", content: `PWN${step}` } }),
  (step) => ({ tool: "fs.edit", args: { path: "d/canary", old_text: "SECRET", new_text: `PWN${step}` } }),
  (step) => ({ tool: "fs.remove", args: { path: "d/canary", recursive: step % 2 === 0 } }),
  (step) => ({ tool: "fs.move", args: { from: "d/canary", to: `moved${step}` } }),
];

const swapped = ["h/.git/hooks", "g/.git", "n"];

export const races: readonly Race[] = [
  {
    group,
    name: "settings of a begun repository, a file outside",
    prepare: "true",
    racer: plantConfig("%OUT%/canary"),
    flags: bash,
    call: (step) => ({ command: `${beginRepository} #${step}` }),
  },
  {
    group,
    name: "settings of a begun repository, ~/.bashrc",
    prepare: "true",
    racer: plantConfig("%HOME%/.bashrc"),
    flags: bash,
    call: (step) => ({ command: `${beginRepository} #${step}` }),
  },
  {
    group,
    name: "file tools in a folder that becomes a link",
    prepare: "mkdir d; echo inside > d/canary; ln -s %OUT% d.l",
    racer: exchange(["d"]),
    flags: ["Write", "Edit", "Remove", "Move"].flatMap((tool) => ["--allow", tool]),
    call: (step) => fileCalls[step % fileCalls.length]!(step),
  },
  {
    group,
    name: "nested repositories that become links",
    prepare: `git init -q h; git init -q g; git init -q n
ln -s %OUT%/hooks h/.git/hooks.l; ln -s %OUT%/repo/.git g/.git.l; ln -s %OUT%/repo n.l`,
    racer: exchange(swapped),
    flags: bash,
    call: (step) => ({
      command: `printf '[alias]\\n x = !y\\n' >> g/.git/config; echo x > n/.git/hooks/pre-commit #${step}`,
    }),
  },
  {
    group,
    name: "a folder that becomes a link while it is mounted",
    prepare: "git init -q n; echo in > n/notes; ln -s %OUT%/repo n.l",
    racer: exchange(["n"]),
    flags: [...bash, "--undo", "off"],
    call: (step) => ({ command: `cat n/notes; echo PWN >> n/Makefile #${step}` }),
  },
];

export async function runRace(race: Race, forMs: number): Promise<SceneOutcome> {
  using arena = createArena({ name: race.name, prepare: race.prepare });
  writeFileSync(join(arena.workspace, "race.py"), racerText(arena, race, forMs));
  const before = treeOf(arena.outside);
  const shell = treeOf(arena.home, /^(?!\.bashrc$)/);
  const racer = runProgram(arena, [{ command: "python3 race.py" }], bash, forMs + START_LIMIT_MS);
  for (let waited = 0; !existsSync(join(arena.workspace, "racing")); waited += POLL_MS) {
    if (waited > START_LIMIT_MS) throw new Error(`the racer of '${race.name}' did not begin`);
    await pause(POLL_MS);
  }
  const steps = Array.from({ length: STEPS }, (_, step) => race.call(step));
  const { calls } = await runProgram(arena, steps, race.flags, forMs + GRACE_MS);
  await racer;
  const effects = [
    ...calls.flatMap(({ text }) => printedSecret(text)),
    ...changes(before, treeOf(arena.outside)),
    ...changes(shell, treeOf(arena.home, /^(?!\.bashrc$)/)),
  ];
  return { group, name: race.name, attempts: calls.length, effects, missed: 0, controls: 0, silent: [] };
}

function racerText(arena: Arena, { racer }: Race, forMs: number): string {
  return arena.fill(
    [
      "import os, time",
      `end = time.time() + ${forMs / 1000}`,
      "def again(): return time.time() < end",
      "open('racing', 'w').close()",
      racer,
    ].join("\n"),
  );
}
