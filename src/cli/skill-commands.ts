/** `harness skills` and its subcommands, as entries of the program's table; each is loaded when it is called. */
import type { Command } from "commander";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";
import type { SkillFlags } from "./skills.ts";

export function addSkillCommands(program: Command, ports: CliPorts, exit: (code: ExitCode) => void): void {
  const skills = program.command("skills").description("list, show, write and check the skills of this project");
  const add = (name: string, about: string): Command =>
    skills.command(name).description(about).option("--dir <dir>", "the project (default: the current folder)");
  const shown = ({ json }: SkillFlags): Promise<CliPorts> => ports.outward.through(ports, json);

  add("list", "list the skills that a session here has, and those that are left out")
    .option("--json", "print JSON")
    .action(async (flags: SkillFlags) =>
      exit(await (await import("./skills.ts")).listSkills(await shown(flags), flags)),
    );
  add("show", "print a skill")
    .argument("<name>", "its name")
    .option("--json", "print JSON")
    .action(async (name: string, flags: SkillFlags) =>
      exit(await (await import("./skills.ts")).showSkill(await shown(flags), name, flags)),
    );
  add("validate", "check the skills; exit code 1 if one does not load")
    .option("--json", "print JSON")
    .action(async (flags: SkillFlags) =>
      exit(await (await import("./skills.ts")).validateSkills(await shown(flags), flags)),
    );
  add("new", "write a skill to begin with, in .harness/skills")
    .argument("<name>", "lower-case letters, digits and single hyphens")
    .action(async (name: string, flags: SkillFlags) =>
      exit((await import("./skills.ts")).newSkill(ports, name, flags)),
    );
}
