/** The hosts that a session may reach: the user's list and those of the project as it is now, parsed once for each version of it. */
import { domainLists, type Project, type Settings } from "#artifacts";
import { createDomainList, type DomainList, messageOf } from "#base";
import { ReasonError } from "#protocol";

/** Undefined where there is no list. Throws ConfigInvalid for an entry that is none. */
export type SessionDomains = () => DomainList | undefined;

export function createSessionDomains(settings: Settings, project: () => Project | undefined): SessionDomains {
  let made: { readonly from: Project | undefined; readonly domains: DomainList | undefined } | undefined;
  return () => {
    const from = project();
    if (made === undefined || made.from !== from) made = { from, domains: parse(settings, from) };
    return made.domains;
  };
}

function parse(settings: Settings, project: Project | undefined): DomainList | undefined {
  const lists = domainLists(settings, project);
  if (lists.length === 0) return undefined;
  try {
    return createDomainList(
      lists.map(({ entries }) => entries),
      lists.map(({ place }) => place),
    );
  } catch (error) {
    throw new ReasonError("ConfigInvalid", `network.allowed_domains: ${messageOf(error)}`, { cause: error });
  }
}
