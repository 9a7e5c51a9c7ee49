import { describe, expect, test } from "vitest";
import { GATE_SCRIPT } from "#world";
import { bubblewrapArguments, createBubblewrap } from "./bubblewrap.ts";
import { WORKSPACE_LIMITS } from "./resource-limits.ts";
import type { SandboxPolicy } from "./sandbox.ts";
import { seatbeltProfile } from "./seatbelt.ts";
import { seccompProgram } from "./seccomp.ts";

const policy: SandboxPolicy = {
  confinement: "workspace",
  root: "/home/ann/work",
  cwd: "/home/ann/work/src",
  gated: true,
  shown: [{ from: "/usr", to: "/usr" }],
  links: [{ path: "/bin", target: "usr/bin" }],
  kernel: ["/proc/sys"],
  scratch: [
    { path: "/tmp", from: "/tmp/session/tmp" },
    { path: "/run", sizeBytes: 65_536 },
  ],
  placed: [{ from: "/home/ann/.rustup", to: "/home/ann/.rustup" }],
  writable: ["/home/ann/work", "/home/ann/main/.git"],
  pinned: ["/home/ann/work/.git"],
  replaced: [],
  readOnly: ["/home/ann/work/.git/hooks"],
  held: [
    { path: "/home/ann/work/.harness", placeholder: "folder" },
    { path: "/home/ann/work/.git/commondir", placeholder: { content: "." } },
  ],
  hidden: [
    { path: "/etc/ssl/private", kind: "directory" },
    { path: "/etc/shadow", kind: "file" },
  ],
  emptyFile: "/tmp/session/empty",
  network: { kind: "session" },
  unixSockets: true,
  limits: WORKSPACE_LIMITS,
  env: { HOME: "/home/ann" },
};
const options = { bwrap: "/usr/bin/bwrap", userNamespace: "closed", processor: "x64" } as const;

describe("the arguments of bubblewrap", () => {
  test("begin with nothing and follow from the policy, in an order in which the stricter mount comes later", () => {
    expect(bubblewrapArguments(policy, options).join(" ")).toBe(
      [
        "--unshare-user --disable-userns --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try",
        "--die-with-parent --new-session --cap-drop ALL",
        "--ro-bind /usr /usr --symlink usr/bin /bin",
        "--dev /dev --size 1073741824 --perms 1777 --tmpfs /dev/shm --remount-ro /dev --proc /proc",
        "--ro-bind /proc/sys /proc/sys --bind /tmp/session/tmp /tmp --size 65536 --tmpfs /run",
        "--ro-bind /home/ann/.rustup /home/ann/.rustup --bind /home/ann/work /home/ann/work",
        "--bind /home/ann/main/.git /home/ann/main/.git --bind /home/ann/work/.git /home/ann/work/.git",
        "--ro-bind /home/ann/work/.git/hooks /home/ann/work/.git/hooks",
        "--perms 0555 --size 4096 --tmpfs /home/ann/work/.harness",
        "--ro-bind /home/ann/work/.git/commondir /home/ann/work/.git/commondir",
        "--perms 0555 --size 4096 --tmpfs /etc/ssl/private --ro-bind /tmp/session/empty /etc/shadow",
        "--remount-ro / --chdir /home/ann/work/src",
      ].join(" "),
    );
  });

  test.each(["closed", "own", "none"] as const)("always drop capabilities, user namespace: %s", (userNamespace) => {
    const args = bubblewrapArguments(policy, { userNamespace });
    expect(args.join(" ")).toContain("--cap-drop ALL");
    expect(args.includes("--unshare-user")).toBe(userNamespace !== "none");
    expect(args.includes("--disable-userns")).toBe(userNamespace === "closed");
  });

  test("make a network namespace only where there is to be none", () => {
    const kinds = ["direct", "none", "session"] as const;
    const cut = kinds.map((kind) =>
      bubblewrapArguments({ ...policy, network: { kind } }, options).includes("--unshare-net"),
    );
    expect(cut).toEqual([false, true, false]);
  });
});

describe("a wrapped command", () => {
  const wrap = (file = "/usr/bin/bash", args = ["-c", "echo 'a b'"], changed: Partial<SandboxPolicy> = {}) =>
    createBubblewrap({ ...options, prlimit: "/usr/bin/prlimit" }).wrap({ file, args }, { ...policy, ...changed });

  test("waits at its gate and has its limits: Bash by its builtin, others by prlimit", () => {
    const limits = "ulimit -u 4096 -f 8388608 -n 16384 -c 0 || exit 126";
    const { file, args, monitor } = wrap();
    expect({ file, monitor, inner: args.slice(args.indexOf("--")) }).toEqual({
      file: "/usr/bin/bwrap",
      monitor: true,
      inner: ["--", "/usr/bin/bash", "-c", `${GATE_SCRIPT}; ${limits}; echo 'a b'`],
    });
    const other = wrap("/usr/bin/git", ["status"]).args;
    expect(other.slice(other.indexOf("--"))).toEqual([
      "--",
      "/bin/sh",
      "-c",
      `${GATE_SCRIPT}; exec "$@"`,
      "sh",
      "/usr/bin/prlimit",
      "--nproc=4096",
      "--fsize=8589934592",
      "--nofile=16384",
      "--core=0",
      "--",
      "/usr/bin/git",
      "status",
    ]);
  });

  test("reads its mounts from a descriptor, where no program inside can look them up, and has a filter", () => {
    const { args, inputs = [], env } = wrap();
    expect(args.slice(0, args.indexOf("--"))).toEqual(["--json-status-fd", "3", "--args", "5", "--seccomp", "6"]);
    expect(Buffer.from(inputs[0] ?? []).toString()).toBe(
      bubblewrapArguments(policy, options)
        .map((word) => `${word}\0`)
        .join(""),
    );
    expect(inputs[1]).toEqual(seccompProgram({ processor: "x64", unixSockets: true }));
    expect(env).toEqual({ HOME: "/home/ann" });
  });

  test("without a gate is the command itself, and nobody watches it", () => {
    const { args, monitor } = wrap("/run/harness/program", ["x"], { gated: false });
    expect(args).toEqual(["--args", "5", "--seccomp", "6", "--", "/run/harness/program", "x"]);
    expect(monitor).toBeUndefined();
  });
});

describe("the profile for macOS", () => {
  test("denies after it allows, and quotes what is in a path", () => {
    const profile = seatbeltProfile({ ...policy, writable: ['/Users/ann/"x\\'] });
    expect(profile).toContain('(allow file-write* (subpath "/Users/ann/\\"x\\\\")');
    expect(profile.indexOf("(deny file-write* (subpath")).toBeGreaterThan(profile.indexOf("(allow file-write*"));
    expect(profile).toContain('(deny file-read* file-write* network-outbound (subpath "/etc/ssl/private")');
    expect(profile).toContain("(deny file-read-data file-write* network*)");
  });
});
