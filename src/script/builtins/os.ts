/** `os`: what kind of machine this is. Nothing here changes the process. */
import { module, row, scripts } from "./definition.ts";

export const os = module("os", "The machine and the program", scripts, [
  row("args()", "list", "The program and the arguments it was started with; empty inside another program.").runs(
    (_args, call) => [...call.services.host.args],
  ),
  row("cwd()", "string", "The workspace.").runs((_args, call) => call.parts.files.root),
  row("hostname()", "string", "Name of the machine.").runs((_args, call) => call.services.host.hostname),
  row("platform()", "string", "`linux`, `darwin` or `windows`.").runs((_args, call) => call.services.host.platform),
]);
