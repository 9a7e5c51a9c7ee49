/** Names of the tools that come with the program, for whoever checks files without loading the tools themselves. */
export const builtinToolNames: readonly string[] = [
  "fs.read",
  "fs.write",
  "fs.edit",
  "fs.list",
  "fs.glob",
  "fs.search",
  "fs.move",
  "fs.remove",
  "exec",
  "web.fetch",
  "ask_user",
];

/** Those that hand work to other agents; there in a project that has some. */
export const delegationToolNames: readonly string[] = [
  "delegate",
  "delegate_async",
  "task.poll",
  "task.await",
  "task.cancel",
];
