/** What a person can type in a conversation, each with the command that it becomes: for faces that are not this terminal. */
import type { CommandKind } from "./commands.ts";

export interface SlashCommand {
  readonly name: string;
  readonly arguments: string;
  readonly description: string;
  readonly commands: readonly CommandKind[];
}

export const slashCommands: readonly SlashCommand[] = [
  {
    name: "/model",
    arguments: "<provider:name>",
    description: "use another model from the next step on",
    commands: ["SetModel"],
  },
  {
    name: "/rules",
    arguments: "[revoke|keep <rule>]",
    description: "the permission rules in force; take back or keep one that an answer has added",
    commands: ["ListRules", "RevokeRule", "PromoteRule"],
  },
  {
    name: "/undo",
    arguments: "[call|turn]",
    description: "take back what the agent changed",
    commands: ["UndoTurn", "UndoCall"],
  },
  { name: "/redo", arguments: "[call|turn]", description: "make again what was undone", commands: ["Redo"] },
  {
    name: "/queue",
    arguments: "<text>",
    description: "send it when the running turn has ended",
    commands: ["QueueInput"],
  },
  { name: "/steer", arguments: "<text>", description: "tell the running turn something", commands: ["SteerTurn"] },
  { name: "/cancel", arguments: "", description: "end the running turn", commands: ["CancelTurn"] },
];
