/** Reads what `strace -f -y -ttt` wrote: which process did what to the world, with absolute paths. Only calls that succeeded. */
import { defined } from "#base";

export interface SystemCall {
  /** Of the engine itself, its threads included; otherwise of something that it started. */
  readonly engine: boolean;
  readonly pid: number;
  readonly name: string;
  readonly atMs: number;
  /** Absolute, `/proc/self/fd/N` undone; for a rename or link both. For execve the program. */
  readonly paths: readonly string[];
  /** `127.0.0.1:80`, or `unix:/path`. */
  readonly address?: string;
  readonly line: string;
}

export const TRACED =
  "execve,open,openat,creat,unlink,unlinkat,rmdir,rename,renameat,renameat2,mkdir,mkdirat,link,linkat,symlink,symlinkat," +
  "truncate,chmod,fchmodat,mknod,mknodat,connect,clone,clone3,vfork,fork";

const WRITING = /O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND|O_TMPFILE/;

/** In order of their end. What only reads, failed or made a thread is left out. */
export function readSystemCalls(text: string): SystemCall[] {
  const calls: SystemCall[] = [];
  const unfinished = new Map<string, string>();
  const engine = new Set<number>();
  const folders = new Map<string, string>();
  for (const raw of text.split("\n")) {
    const head = /^(\d+)\s+(\d+\.\d+) (.*)$/.exec(raw);
    if (head === null) continue;
    const [, pid = "", seconds = "", rest = ""] = head;
    if (engine.size === 0) engine.add(Number(pid));
    if (rest.endsWith("<unfinished ...>")) {
      unfinished.set(pid, rest.slice(0, -"<unfinished ...>".length).trimEnd());
      continue;
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest);
    const line = resumed === null ? rest : `${unfinished.get(pid) ?? ""}${resumed[1] ?? ""}`;
    const call = /^(\w+)\((.*)\)\s+= (-?\d+)(?:<(.*?)>)?/s.exec(line);
    if (call === null) continue;
    const [, name = "", args = "", value = "", opened] = call;
    // A connection that is not there yet is under way.
    if (value.startsWith("-") && !/EINPROGRESS/.test(line)) continue;
    const isEngine = engine.has(Number(pid));
    if (/^(?:clone3?|v?fork)$/.test(name)) {
      if (isEngine && /CLONE_THREAD/.test(args)) engine.add(Number(value));
      continue;
    }
    const owner = isEngine ? "engine" : pid;
    if (/^open/.test(name)) {
      if (opened !== undefined) folders.set(`${owner} ${value}`, opened);
      if (!WRITING.test(args)) continue;
    }
    const address = name === "connect" ? addressOf(args) : undefined;
    if (name === "connect" && address === undefined) continue;
    const paths =
      /^open/.test(name) && opened !== undefined ? [opened] : pathsOf(args, (fd) => folders.get(`${owner} ${fd}`));
    const atMs = Number(seconds) * 1000;
    calls.push({
      engine: isEngine,
      pid: Number(pid),
      name,
      atMs,
      paths,
      line,
      ...defined({ address }),
    });
  }
  return calls;
}

/** Each quoted path with the folder before it: `AT_FDCWD</w>, "a"` or `7</w/x>, "a"`. */
function pathsOf(args: string, opened: (fd: string) => string | undefined): string[] {
  const paths: string[] = [];
  for (const [, folder, name = ""] of args.matchAll(/(?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"((?:[^"\\]|\\.)*)"/g)) {
    const viaHandle = /^\/proc\/(?:self|\d+)\/fd\/(\d+)(\/.*)?$/.exec(name);
    if (viaHandle !== null) paths.push(`${opened(viaHandle[1] ?? "") ?? "?"}${viaHandle[2] ?? ""}`);
    else paths.push(name.startsWith("/") ? name : `${folder ?? "?"}/${name}`);
  }
  return paths;
}

function addressOf(args: string): string | undefined {
  const unix = /sun_path=@?"([^"]*)"/.exec(args);
  if (unix !== null) return `unix:${unix[1] ?? ""}`;
  const port = /sin6?_port=htons\((\d+)\)/.exec(args)?.[1];
  const host = /inet_addr\("([^"]*)"\)|inet_pton\(AF_INET6, "([^"]*)"/.exec(args);
  return port === undefined || host === null ? undefined : `${host[1] ?? host[2] ?? ""}:${port}`;
}
