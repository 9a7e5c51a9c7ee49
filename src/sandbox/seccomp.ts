/**
 * The system call filter of a command, as a program for the kernel's packet filter machine. Mounts and namespaces leave sockets of other
 * families, io_uring, the key rings and injected terminal input open; this closes them. Socket families are a list of what is allowed.
 * A pure function: it writes bytes and loads nothing.
 */

/** By processor: how the kernel names it, and the column of the tables below. */
const PROCESSORS = { x64: { audit: 0xc000003e, column: 0 }, arm64: { audit: 0xc00000b7, column: 1 } } as const;
export type FilteredProcessor = keyof typeof PROCESSORS;

export function isFilteredProcessor(name: string): name is FilteredProcessor {
  return Object.hasOwn(PROCESSORS, name);
}

/** Operations of the filter machine: load a word, mask it, return, and the three jumps. */
const [LOAD, AND, RETURN, IF_EQUAL, IF_AT_LEAST, IF_SET] = [0x20, 0x54, 0x06, 0x15, 0x35, 0x45];
const [ALLOW, KILL, EPERM, ENOSYS, EAFNOSUPPORT] = [0x7fff0000, 0x80000000, 0x50001, 0x50026, 0x50061];

/** Numbers on x64 and arm64 of calls that no command needs and that reach past its confinement. */
const DENIED: Readonly<Record<string, readonly [number, number]>> = {
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  setns: [308, 268],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  open_by_handle_at: [304, 265],
  name_to_handle_at: [303, 264],
  fanotify_init: [300, 262],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  reboot: [169, 142],
  acct: [163, 89],
  swapon: [167, 224],
  swapoff: [168, 225],
  syslog: [103, 116],
  // Its flags are in memory, where a filter cannot look; libraries fall back to clone.
  clone3: [435, 435],
};

const CALLS = {
  clone: [56, 220],
  unshare: [272, 97],
  ioctl: [16, 29],
  socket: [41, 198],
  socketpair: [53, 199],
} as const;
/** Numbers above this belong to the x32 interface, which has numbers of its own for everything. */
const X32 = 0x40000000;
const NEW_USER_NAMESPACE = 0x10000000;
/** `TIOCSTI` and `TIOCLINUX` put input into a terminal. */
const TERMINAL_INPUT = [0x5412, 0x541c];
const [UNIX, INET, INET6, NETLINK] = [1, 2, 10, 16];
const DATAGRAM = 2;
const SOCKET_TYPE_MASK = 0xf;

export interface FilterOptions {
  readonly processor: FilteredProcessor;
  /** Whether Unix sockets can be made: programs use them among themselves, and reach whoever listens in a folder that they see. */
  readonly unixSockets: boolean;
}

export function seccompProgram({ processor, unixSockets }: FilterOptions): Buffer {
  const { audit, column } = PROCESSORS[processor];
  /** Operation, jump when true, jump when false, operand. */
  const code: number[][] = [];
  const answerWhen = (test: number, operand: number, answer: number): void => {
    code.push([test, 0, 1, operand], [RETURN, 0, 0, answer]);
  };
  /** The low word of an argument only: the kernel looks at no more of these. */
  const onCall = (name: keyof typeof CALLS, argument: number, otherwise: number, rules: () => void): void => {
    const test = [IF_EQUAL, 0, 0, CALLS[name][column]];
    const from = code.push(test, [LOAD, 0, 0, 16 + 8 * argument]);
    rules();
    test[2] = code.push([RETURN, 0, 0, otherwise]) - from + 1;
  };
  code.push([LOAD, 0, 0, 4], [IF_EQUAL, 1, 0, audit], [RETURN, 0, 0, KILL], [LOAD, 0, 0, 0]);
  if (processor === "x64") answerWhen(IF_AT_LEAST, X32, ENOSYS);
  for (const numbers of Object.values(DENIED)) answerWhen(IF_EQUAL, numbers[column], ENOSYS);
  for (const name of ["clone", "unshare"] as const) {
    onCall(name, 0, ALLOW, () => answerWhen(IF_SET, NEW_USER_NAMESPACE, EPERM));
  }
  onCall("ioctl", 1, ALLOW, () => {
    for (const request of TERMINAL_INPUT) answerWhen(IF_EQUAL, request, EPERM);
  });
  onCall("socket", 0, EAFNOSUPPORT, () => {
    for (const family of [INET, INET6, NETLINK, ...(unixSockets ? [UNIX] : [])]) answerWhen(IF_EQUAL, family, ALLOW);
  });
  if (!unixSockets) {
    // A pair of datagram sockets can send to any path.
    onCall("socketpair", 1, ALLOW, () => {
      code.push([AND, 0, 0, SOCKET_TYPE_MASK]);
      answerWhen(IF_EQUAL, DATAGRAM, EAFNOSUPPORT);
    });
  }
  code.push([RETURN, 0, 0, ALLOW]);
  return Buffer.concat(
    code.map(([operation = 0, whenTrue = 0, whenFalse = 0, operand = 0]) =>
      Buffer.of(operation, 0, whenTrue, whenFalse, operand, operand >>> 8, operand >>> 16, operand >>> 24),
    ),
  );
}
