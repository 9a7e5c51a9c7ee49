/** A real directory that lives as long as one test, with real ports bound to it. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { type EffectPorts, noServers, type WebPort } from "#base";
import type { ToolContext } from "#engine";
import { CallId, ClientId, SessionId, TurnId } from "#protocol";
import { createProcesses, createPublicWeb, createWorkspaceFiles } from "#world";
import { noMemory } from "./no-memory.ts";

export interface TemporaryWorkspace {
  /** Holds the workspace and what a test puts beside it. */
  readonly outside: string;
  readonly root: string;
  readonly ports: EffectPorts;
  /** Puts a file into the workspace, past the ports. */
  put(path: string, content: string | Uint8Array): string;
}

export function createTemporaryWorkspace(web: WebPort = createPublicWeb()): TemporaryWorkspace {
  const outside = realpathSync(mkdtempSync(join(tmpdir(), "harness-test-")));
  onTestFinished(() => rmSync(outside, { recursive: true, force: true }));
  const root = join(outside, "workspace");
  mkdirSync(root);
  const files = createWorkspaceFiles(root);
  return {
    outside,
    root,
    ports: { files, processes: createProcesses({ root, env: process.env }), web, servers: noServers, memory: noMemory },
    put(path, content) {
      const target = join(root, path);
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, content);
      return target;
    },
  };
}

/** The context of one call; what a test does not name is inert. */
export function createToolContext(ports: EffectPorts, parts: Partial<ToolContext> = {}): ToolContext {
  return {
    session: SessionId.from("01JZ0000000000000000000000"),
    turn: TurnId.from("01JZ0000000000000000000001"),
    callId: CallId.from("01JZ0000000000000000000002"),
    signal: new AbortController().signal,
    ports,
    step: 1,
    depth: 0,
    nesting: 0,
    originator: ClientId.from("01JZ0000000000000000000003"),
    annotate: () => undefined,
    call: async (name) => ({ content: [{ type: "text", text: `no tool ${name}` }], isError: true }),
    background: () => Promise.reject(new Error("nothing goes on beside this call")),
    progress: () => undefined,
    ask: async () => undefined,
    ...parts,
  };
}
