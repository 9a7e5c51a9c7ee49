/** Every list of `allowed_domains` that holds for a session, with where it is written. */
import type { Project } from "./project.ts";
import type { Settings } from "./settings.ts";

export interface WrittenDomains {
  readonly entries: readonly string[];
  /** `file:line`, or the file of a list without entries. */
  readonly place: string;
}

/** The user's, the machine's and the project's: a host must be in all of them. */
export function domainLists(
  { network }: Pick<Settings, "network">,
  project: Project | undefined,
): readonly WrittenDomains[] {
  const listed = network?.allowedDomains;
  const users = listed === undefined ? [] : [{ entries: listed, place: "config.toml" }];
  const written = (project?.config.networks ?? []).map(({ network: { allowedDomains } }) => {
    const [first] = allowedDomains;
    const place = first === undefined ? (project?.configFile ?? "network") : placeText(first.place);
    return { entries: allowedDomains.map(({ pattern }) => pattern), place };
  });
  return [...users, ...written];
}

/** A flag has no lines. */
const placeText = ({ file, line }: { readonly file: string; readonly line: number }): string =>
  file.startsWith("--") ? file : `${file}:${line}`;
