/**
 * What the pattern of a permission rule means for paths and URLs; commands are in `argv-patterns.ts`. An allow rule is
 * read narrowly and a deny or ask rule widely, so that a doubt is never an allow.
 */
import { compileGlob } from "./path-glob.ts";
import { workspaceRelative } from "./sensitive-paths.ts";
import { matchWildcard } from "./wildcard.ts";

/** `maybe` comes only from wide readings: it cannot be told before the command runs. */
export type PatternMatch = "yes" | "no" | "maybe";

export type Reading = "narrow" | "wide";

/**
 * A glob relative to the workspace root, or absolute. `*` stays within a folder, `**` crosses folders. Read narrowly, a
 * wildcard does not match a leading dot; read widely it does, and case does not matter.
 */
export function matchPath(pattern: string, path: string, reading: Reading, root: string | undefined): boolean {
  const wide = reading === "wide";
  const { matches, matchesBelow } = pathMatchers(pattern, wide);
  const relative = root === undefined ? lexical(path) : workspaceRelative(root, path);
  const candidates = [relative, path.startsWith("/") ? lexical(path) : undefined];
  if (candidates.some((candidate) => candidate !== undefined && matches(candidate))) return true;
  // Without a root an absolute path may be one of the workspace: a deny still has to hold.
  return wide && root === undefined && path.startsWith("/") && matchesBelow(path.slice(1));
}

interface PathMatchers {
  readonly matches: (path: string) => boolean;
  /** In any folder. */
  readonly matchesBelow: (path: string) => boolean;
}

/** Patterns that are kept compiled; they come from rules, of which there are few. */
const MAX_COMPILED = 2000;
/** Module state, because it decides nothing: a matcher follows from the text of its pattern alone. */
const compiled = new Map<string, PathMatchers>();

function pathMatchers(pattern: string, wide: boolean): PathMatchers {
  const key = `${wide ? "wide" : "narrow"} ${pattern}`;
  const known = compiled.get(key);
  if (known !== undefined) return known;
  const glob = pattern.replace(/^(?:\.\/)+/, "");
  const made = { matches: compileGlob(glob, { wide }), matchesBelow: compileGlob(`**/${glob}`, { wide }) };
  if (compiled.size >= MAX_COMPILED) compiled.clear();
  compiled.set(key, made);
  return made;
}

/**
 * `domain:example.com` is the host and everything below it. Otherwise `[scheme://]host[:port][/path]` with `*` inside a
 * host label or anywhere in the path; without a path every path. `maybe` when the URL cannot be read.
 */
export function matchUrl(pattern: string, subject: string, reading: Reading): PatternMatch {
  const url = URL.canParse(subject) ? new URL(subject) : undefined;
  const narrow = reading === "narrow";
  if (url === undefined) return narrow ? "no" : "maybe";
  if (narrow && (url.username !== "" || url.password !== "")) return "no";
  const host = url.hostname.replace(/\.+$/, "");
  const domain = /^domain:(.+)$/.exec(pattern)?.[1]?.toLowerCase();
  if (domain !== undefined) return host === domain || host.endsWith(`.${domain}`) ? "yes" : "no";
  const parts = URL_PATTERN.exec(pattern);
  if (parts === null) return narrow ? "no" : "maybe";
  const [, scheme, hostPattern = "", port, path] = parts;
  if (scheme === undefined ? narrow && !(url.protocol in DEFAULT_PORTS) : `${scheme.toLowerCase()}:` !== url.protocol) {
    return "no";
  }
  if (port !== undefined && port !== (url.port || DEFAULT_PORTS[url.protocol])) return "no";
  if (!matchHost(hostPattern.toLowerCase(), host)) return "no";
  if (path === undefined || path === "/*") return "yes";
  const target = url.pathname + url.search;
  if (matchWildcard(path, target)) return "yes";
  return !narrow && matchWildcard(path.toLowerCase(), percentDecoded(target).toLowerCase()) ? "yes" : "no";
}

/** Whether a pattern for `web.fetch` can be read at all. */
export function isUrlPattern(pattern: string): boolean {
  return /^domain:[\w.-]+$/.test(pattern) || (!pattern.startsWith("domain:") && URL_PATTERN.test(pattern));
}

const URL_PATTERN = /^(?:([a-z][a-z0-9+.-]*):\/\/)?([^/:@\s]+|\[[0-9a-f:.]+\])(?::(\d+))?(\/.*)?$/i;
const DEFAULT_PORTS: Readonly<Record<string, string>> = { "http:": "80", "https:": "443" };

/** Label by label, so that `*` stands for one label and never for a dot. */
function matchHost(pattern: string, host: string): boolean {
  const wanted = pattern.split(".");
  const labels = host.split(".");
  return wanted.length === labels.length && wanted.every((part, index) => matchWildcard(part, labels[index] ?? ""));
}

function percentDecoded(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

function lexical(path: string): string {
  const absolute = path.startsWith("/");
  const segments: string[] = [];
  for (const segment of path.split("/")) {
    if (segment === ".." && segments.length > 0 && segments.at(-1) !== "..") segments.pop();
    else if (segment === ".." ? !absolute : segment !== "" && segment !== ".") segments.push(segment);
  }
  return (absolute ? "/" : "") + segments.join("/") || ".";
}
