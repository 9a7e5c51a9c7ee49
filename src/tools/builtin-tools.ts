/** The tools that come with the program, in the order in which the model sees them. */
import type { Clock } from "#base";
import type { ToolSource } from "#engine";
import { askUserTool } from "./ask-user.ts";
import { editTool } from "./edit.ts";
import { createExecTool } from "./exec.ts";
import { fetchTool } from "./fetch.ts";
import { globTool } from "./glob.ts";
import { listTool } from "./list.ts";
import { moveTool } from "./move.ts";
import { readTool } from "./read.ts";
import { removeTool } from "./remove.ts";
import { searchTool } from "./search.ts";
import { writeTool } from "./write.ts";

export function createBuiltinTools(clock: Pick<Clock, "sleep">): ToolSource {
  const tools = [
    readTool,
    writeTool,
    editTool,
    listTool,
    globTool,
    searchTool,
    moveTool,
    removeTool,
    createExecTool(clock),
    fetchTool,
    askUserTool,
  ];
  return { name: "builtin", tools: () => tools };
}
