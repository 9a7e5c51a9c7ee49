/** `harness skills` and its subcommands, as entries of the program's table; each is loaded when it is called. */
import type { Command } from "commander";
import type { CommandActions } from "./command-actions.ts";

export function addSkillCommands(program: Command, { asIs, redacted }: CommandActions): void {
  const skills = program.command("skills").description("list, show, write and check the skills of this project");
  const add = (name: string, about: string): Command =>
    skills.command(name).description(about).option("--dir <dir>", "the project (default: the current folder)");

  add("list", "list the skills that a session here has, and those that are left out")
    .option("--json", "print JSON")
    .action(redacted(async () => (await import("./skills.ts")).listSkills));
  add("show", "print a skill")
    .argument("<name>", "its name")
    .option("--json", "print JSON")
    .action(redacted(async () => (await import("./skills.ts")).showSkill));
  add("validate", "check the skills; exit code 1 if one does not load")
    .option("--json", "print JSON")
    .action(redacted(async () => (await import("./skills.ts")).validateSkills));
  add("new", "write a skill to begin with, in .harness/skills")
    .argument("<name>", "lower-case letters, digits and single hyphens")
    .action(asIs(async () => (await import("./skills.ts")).newSkill));
}
