import { describe, expect, test } from "vitest";
import { GATE_SCRIPT } from "#base";
import { bubblewrapArguments, createBubblewrap } from "./bubblewrap.ts";
import { DEFAULT_LIMITS } from "./resource-limits.ts";
import type { SandboxPolicy } from "./sandbox.ts";
import { seatbeltProfile } from "./seatbelt.ts";

const policy: SandboxPolicy = {
  root: "/home/ann/work",
  writable: ["/home/ann/main/.git"],
  pinned: ["/home/ann/work/.git"],
  readOnly: ["/home/ann/work/.git/hooks"],
  held: [
    { path: "/home/ann/work/.harness", placeholder: "folder" },
    { path: "/home/ann/work/.git/commondir", placeholder: { content: "." } },
  ],
  hidden: [
    { path: "/run", kind: "directory" },
    { path: "/home/ann/.ssh", kind: "directory" },
    { path: "/home/ann/.netrc", kind: "file" },
  ],
  kernel: ["/proc/sys"],
  shown: ["/run/systemd/resolve/stub-resolv.conf"],
  tmp: "/tmp/session/tmp",
  emptyFile: "/tmp/session/empty",
  network: { kind: "open" },
};
const options = {
  bwrap: "/usr/bin/bwrap",
  userNamespace: "closed",
  limits: DEFAULT_LIMITS,
  node: "/usr/bin/node",
} as const;

describe("the arguments of bubblewrap", () => {
  test("follow from the policy, in an order in which the stricter mount comes later", () => {
    expect(bubblewrapArguments(policy, options).join(" ")).toBe(
      [
        "--unshare-user --disable-userns --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try",
        "--die-with-parent --new-session --cap-drop ALL --json-status-fd 3",
        "--ro-bind / / --dev /dev --proc /proc --ro-bind /proc/sys /proc/sys --size 16777216 --tmpfs /run",
        "--bind /tmp/session/tmp /tmp --bind /tmp/session/tmp /var/tmp --bind /home/ann/work /home/ann/work",
        "--bind /home/ann/main/.git /home/ann/main/.git --bind /home/ann/work/.git /home/ann/work/.git",
        "--ro-bind /home/ann/work/.git/hooks /home/ann/work/.git/hooks",
        "--perms 0555 --size 4096 --tmpfs /home/ann/work/.harness",
        "--ro-bind /home/ann/work/.git/commondir /home/ann/work/.git/commondir",
        "--perms 0555 --size 4096 --tmpfs /home/ann/.ssh --ro-bind /tmp/session/empty /home/ann/.netrc",
        "--ro-bind /run/systemd/resolve/stub-resolv.conf /run/systemd/resolve/stub-resolv.conf",
      ].join(" "),
    );
  });

  test.each(["closed", "own", "none"] as const)("always drop capabilities, user namespace: %s", (userNamespace) => {
    const args = bubblewrapArguments(policy, { userNamespace });
    expect(args.join(" ")).toContain("--cap-drop ALL");
    expect(args.includes("--unshare-user")).toBe(userNamespace !== "none");
    expect(args.includes("--disable-userns")).toBe(userNamespace === "closed");
  });

  test("cut the network off unless it is open", () => {
    const kinds = [
      { kind: "open" },
      { kind: "none" },
      { kind: "listed", socket: "/tmp/session/egress.sock", noProxy: "localhost" },
    ] as const;
    const cut = kinds.map((network) => bubblewrapArguments({ ...policy, network }, options).includes("--unshare-net"));
    expect(cut).toEqual([false, true, true]);
  });
});

describe("a wrapped command", () => {
  const wrap = (network: SandboxPolicy["network"], file = "/usr/bin/bash", args = ["-c", "echo 'a b'"]) =>
    createBubblewrap({ ...options, prlimit: "/usr/bin/prlimit" }).wrap({ file, args }, { ...policy, network });

  test("waits at its gate and has its limits: Bash by its builtin, others by prlimit", () => {
    const limits = "ulimit -u 4096 -f 8388608 -n 16384 -d 8388608 -c 0 || exit 126";
    const { file, args, monitor } = wrap({ kind: "none" });
    expect({ file, monitor, inner: args.slice(args.indexOf("--")) }).toEqual({
      file: "/usr/bin/bwrap",
      monitor: true,
      inner: ["--", "/usr/bin/bash", "-c", `${GATE_SCRIPT}; ${limits}; echo 'a b'`],
    });
    const other = wrap({ kind: "none" }, "/usr/bin/git", ["status"]).args;
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
      "--data=8589934592",
      "--core=0",
      "--",
      "/usr/bin/git",
      "status",
    ]);
  });

  test("gets the proxy only with a list", () => {
    expect(wrap({ kind: "open" }).env).toEqual({
      TMPDIR: "/tmp",
      XDG_CACHE_HOME: "/tmp/.cache",
      npm_config_cache: "/tmp/.cache/npm",
    });
    const listed = wrap({ kind: "listed", socket: "/tmp/session/egress.sock", noProxy: "localhost" });
    expect(listed.env).toMatchObject({
      HTTPS_PROXY: "http://127.0.0.1:3128",
      http_proxy: "http://127.0.0.1:3128",
      NO_PROXY: "localhost",
    });
    expect(listed.args.join(" ")).toContain("--ro-bind /tmp/session/egress.sock /run/harness/egress.sock");
  });
});

describe("the profile for macOS", () => {
  test("denies after it allows, and quotes what is in a path", () => {
    const profile = seatbeltProfile({ ...policy, root: '/Users/ann/"x\\', network: { kind: "none" } });
    expect(profile).toContain('(allow file-write* (subpath "/Users/ann/\\"x\\\\")');
    expect(profile.indexOf("(deny file-write* (subpath")).toBeGreaterThan(profile.indexOf("(allow file-write*"));
    expect(profile).toContain('(deny file-read* file-write* network-outbound (subpath "/run")');
    expect(profile).toContain("(deny network*)");
  });
});
