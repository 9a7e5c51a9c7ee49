/** An image from the clipboard of the desktop, through the program that the platform has for it, within bounds of time and size. */
import { type Clock, withinTime } from "#base";
import { ReasonError } from "#protocol";
import { childEnvironment, findProgram, startPiped } from "#world";

/** Rejects with UsageInvalid when there is no image, or nothing that can read one. */
export type ClipboardImage = (maxBytes: number) => Promise<Uint8Array>;

export interface ClipboardParts {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Programs in it are not used. */
  readonly cwd: string;
  readonly clock: Pick<Clock, "sleep">;
}

const DEADLINE_MS = 5000;
const MAX_LIST_BYTES = 64 * 1024;
/** What vendors take, the one without loss first. */
const TYPES = ["image/png", "image/jpeg", "image/webp", "image/gif"];
const SESSION_VARIABLES = ["DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR"];
const NO_IMAGE = "the clipboard has no image. Copy one first, or give the path of a file";

/** A program, and its arguments for the list of types that the clipboard has and for the image of one type. */
interface Reader {
  readonly program: string;
  readonly install: string;
  /** Undefined: it always gives a PNG. */
  readonly list?: readonly string[];
  image(type: string): readonly string[];
}

const wayland: Reader = {
  program: "wl-paste",
  install: "wl-clipboard (for wl-paste)",
  list: ["--list-types"],
  image: (type) => ["--no-newline", "--type", type],
};
const x11: Reader = {
  program: "xclip",
  install: "xclip",
  list: ["-selection", "clipboard", "-t", "TARGETS", "-o"],
  image: (type) => ["-selection", "clipboard", "-t", type, "-o"],
};
const macos: Reader = { program: "pngpaste", install: "pngpaste (brew install pngpaste)", image: () => ["-"] };

export function createClipboard(parts: ClipboardParts): ClipboardImage {
  const { platform, env, cwd, clock } = parts;
  return async (maxBytes) => {
    const { path, reader } = readerHere(platform, env, cwd);
    const late = (): ReasonError => unusable(`${reader.program} did not answer within ${DEADLINE_MS / 1000} s`);
    return withinTime(
      clock,
      DEADLINE_MS,
      async (signal) => {
        const run = (args: readonly string[], most: number): Promise<Buffer | undefined> =>
          output({ program: path, args, cwd: "/", env: childEnvironment(env, cwd, sessionOf(env)) }, most, signal);
        const listed = reader.list === undefined ? TYPES : linesOf(await run(reader.list, MAX_LIST_BYTES));
        const type = TYPES.find((one) => listed.includes(one));
        const image = type === undefined ? undefined : await run(reader.image(type), maxBytes);
        if (image === undefined || image.length === 0) throw unusable(NO_IMAGE);
        return image;
      },
      late,
    );
  };
}

function readerHere(platform: NodeJS.Platform, env: ClipboardParts["env"], cwd: string) {
  const readers =
    platform === "darwin" ? [macos] : [...(env.WAYLAND_DISPLAY ? [wayland] : []), ...(env.DISPLAY ? [x11] : [])];
  const [first] = readers;
  if (first === undefined || platform === "win32") {
    throw unusable("this terminal belongs to no desktop whose clipboard can be read. Give the path of a file");
  }
  for (const reader of readers) {
    const path = findProgram(reader.program, { root: cwd, env })?.path;
    if (path !== undefined) return { path, reader };
  }
  throw unusable(`no program was found that reads images from the clipboard. Install ${first.install}`);
}

/** Undefined when the program failed, which is how these programs say that there is nothing of the kind. */
function output(
  options: Parameters<typeof startPiped>[0],
  maxBytes: number,
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer | undefined>();
  const chunks: Buffer[] = [];
  let size = 0;
  let code: number | null | undefined;
  let hasEnded = false;
  const settle = (): void => {
    if (code !== undefined && (hasEnded || code !== 0)) resolve(code === 0 ? Buffer.concat(chunks) : undefined);
  };
  const program = startPiped(options, (ended) => {
    code = ended;
    settle();
  });
  const stop = (): void => {
    program.kill();
    program.stdout.destroy();
  };
  program.stdin.end();
  program.stdout.on("data", (chunk: Buffer) => {
    size += chunk.length;
    chunks.push(chunk);
    if (size <= maxBytes) return;
    stop();
    reject(unusable(`the image in the clipboard has more than ${maxBytes} bytes`));
  });
  program.stdout.on("end", () => {
    hasEnded = true;
    settle();
  });
  signal.addEventListener("abort", stop, { once: true });
  return promise;
}

function linesOf(text: Buffer | undefined): readonly string[] {
  return text?.toString("utf8").split(/\r?\n/) ?? [];
}

function sessionOf(env: ClipboardParts["env"]): Record<string, string> {
  const set = SESSION_VARIABLES.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]));
  return Object.fromEntries(set) as Record<string, string>; // those that are set
}

function unusable(detail: string): ReasonError {
  return new ReasonError("UsageInvalid", detail);
}
