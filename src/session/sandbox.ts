/** The sandbox of a session, as the composition root hands it out: nothing of it is loaded or tried before it is needed. */

import { join, resolve } from "node:path";
import type { Settings } from "#artifacts";
import { type Clock, type DomainList, defined, once, type ProcessPort } from "#base";
import type { EventBus } from "#engine";
import { isSecretFile, type SandboxHold } from "#governance";
import { ReasonError } from "#protocol";
import type { CommandSandbox, Sandboxes, SandboxSession } from "#sandbox";
import { heldNames } from "#stores";
import { realPath } from "#world";

export interface SessionSandbox {
  /** Inside the sandbox, as far as the settings ask for one. */
  readonly processes: ProcessPort;
  /** What it finds and which connections it opens is published here. */
  recordTo(bus: Pick<EventBus, "publish">): void;
  /** What holds a command that somebody allowed: a sandbox, nothing because the user switched it off, or nothing because there is none. */
  hold(): Promise<SandboxHold>;
  /** Files and folders that git's configuration makes steering files, relative to the workspace. */
  namedByGit(): Promise<readonly string[]>;
  /** Nothing but a placeholder stands at this absolute path, because a command is running. */
  isHeld(path: string): boolean;
  /** Throws SandboxUnavailable when one is required and there is none. */
  ensure(): Promise<void>;
  close(): Promise<void>;
}

export interface SandboxOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** Log, undo, tokens and sockets, wherever they are, and the usual folders of the program. */
  readonly ownPaths: readonly string[];
}

/** Where a session's commands run, and which hosts they may reach; asked before each command, undefined for any. */
export interface SandboxPlace {
  readonly root: string;
  readonly outside: ProcessPort;
  readonly domains: () => DomainList | undefined;
  /** Programs that a rule denies as a whole. Asked before each command. */
  readonly deniedPrograms: () => readonly string[];
  readonly settings: Pick<Settings, "sandbox" | "network" | "sandboxPaths" | "readerTimeoutMs">;
  /** For an MCP server instead of commands. */
  readonly server?: SandboxSession["server"];
}

/** One for all sessions of a program. */
export function prepareSandbox(options: SandboxOptions): (place: SandboxPlace) => SessionSandbox {
  const { env, clock } = options;
  let known: Sandboxes | undefined;
  const loaded = once(async () => {
    const { createSandboxes } = await import("#sandbox");
    const ownPaths = options.ownPaths.flatMap(asItIs);
    known = createSandboxes({
      env,
      clock,
      ownPaths,
      isSecret: isSecretFile,
      ...defined({ heldFolder: heldNames(env) }),
    });
    return known;
  });
  return ({ root, outside, domains: domainsNow, deniedPrograms, settings, server }) => {
    const { sandbox: mode, network, sandboxPaths, readerTimeoutMs } = settings;
    let bus: Pick<EventBus, "publish"> | undefined;
    let opened: Promise<CommandSandbox> | undefined;
    let openedFor: string | undefined;
    const sandbox = (): Promise<CommandSandbox> => {
      const domains = domainsNow();
      const list = domains === undefined ? "any" : JSON.stringify(domains.lists);
      if (list !== openedFor) {
        // The list has changed: the next command is held to the new one. What still runs ends with its own.
        const before = opened;
        opened = undefined;
        openedFor = list;
        before?.then((made) => made.close()).catch(() => undefined);
      }
      opened ??= loaded().then((sandboxes) => {
        const made = sandboxes.open({
          root,
          processes: outside,
          mode,
          hidden: [join(root, ".harness", "threads")],
          deniedPrograms,
          directNetwork: network?.mode === "direct",
          loopbackPorts: network?.loopbackPorts ?? [],
          readOnlyPaths: sandboxPaths,
          ...defined({ readerTimeoutMs, domains, server }),
        });
        made.recordTo({
          async status({ mode, active, backend, network, domains, detail }) {
            // The session says what holds its commands; servers are told of elsewhere.
            if (server !== undefined) return;
            const optional = { ...(backend && { backend }), ...(domains && { domains: [...domains] }) };
            await bus?.publish("SandboxStatus", { mode, active, network, detail, ...optional });
          },
          async connection({ bytesSent, bytesReceived, durationMs, ...entry }) {
            await bus?.publish("NetworkConnection", {
              ...entry,
              ...defined({ bytes_sent: bytesSent, bytes_received: bytesReceived, duration_ms: durationMs }),
            });
          },
        });
        return made;
      });
      return opened;
    };
    return {
      processes: {
        run: async (spec, signal) => (await sandbox()).processes.run(spec, signal),
      },
      recordTo(next) {
        bus = next;
      },
      async hold() {
        if (mode === "off") return "off";
        return (await (await sandbox()).probe()).available ? "sandbox" : "none";
      },
      namedByGit: async () => (await sandbox()).namedByGit(),
      isHeld: (path) => known?.isHeld(path) === true,
      async ensure() {
        if (mode !== "required") return;
        const made = await sandbox();
        const { active, detail } = await made.status();
        if (active) return;
        await made.close();
        throw new ReasonError("SandboxUnavailable", detail);
      },
      close: async () => (await opened)?.close(),
    };
  };
}

/** Also by its real name, before a command has run: a link above it that a command makes anew must not show it. */
function asItIs(path: string): string[] {
  const absolute = resolve(path);
  return [absolute, realPath(absolute)];
}
