/** `os`: what kind of machine this is. Nothing here changes the process. */
import { type ModuleRow, scripts } from "./definition.ts";

export const os: ModuleRow = {
  name: "os",
  meaning: "The machine and the program",
  audience: scripts,
  functions: [
    {
      name: "args",
      params: "",
      returns: "list",
      meaning: "The program and the arguments it was started with; empty inside another program.",
      run: (_args, call) => [...call.services.host.args],
    },
    {
      name: "cwd",
      params: "",
      returns: "string",
      meaning: "The workspace.",
      run: (_args, call) => call.parts.files.root,
    },
    {
      name: "hostname",
      params: "",
      returns: "string",
      meaning: "Name of the machine.",
      run: (_args, call) => call.services.host.hostname,
    },
    {
      name: "platform",
      params: "",
      returns: "string",
      meaning: "`linux`, `darwin` or `windows`.",
      run: (_args, call) => call.services.host.platform,
    },
  ],
};
