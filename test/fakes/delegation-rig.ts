/** A whole harness on a project with agents, each of them played by its role. */
import type { Event, EventKind, EventOf, SessionId } from "#protocol";
import type { RigOptions } from "./harness-rig.ts";
import { createProjectRig, type ProjectFiles, type ProjectRig } from "./project-rig.ts";
import { HARNESS, type Roles, rolesPlugin, textsOf } from "./roles.ts";

export interface DelegationRig extends ProjectRig {
  /** Of all sessions, in the order in which they were stored. */
  readonly all: readonly Event[];
  allOf<Kind extends EventKind>(kind: Kind): EventOf<Kind>["payload"][];
  /** Sessions of delegates, oldest first. */
  children(): readonly SessionId[];
  ofSession<Kind extends EventKind>(session: SessionId | undefined, kind: Kind): EventOf<Kind>["payload"][];
  /** The results of the root's calls, parsed. */
  parsed(): readonly Record<string, unknown>[];
  /** The first event of this kind, of any session, now or when it comes. */
  anywhere<Kind extends EventKind>(kind: Kind): Promise<EventOf<Kind>>;
}

export async function createDelegationRig(
  files: ProjectFiles,
  roles: Roles,
  options: RigOptions = {},
): Promise<DelegationRig> {
  const all: Event[] = [];
  const waiting = new Set<(event: Event) => void>();
  const plugin = rolesPlugin(roles, (event) => {
    all.push(event);
    for (const told of [...waiting]) told(event);
  });
  const rig = await createProjectRig({ "harness.md": HARNESS, ...files }, [], {
    model: "roles:one",
    ...options,
    plugins: [plugin, ...(options.plugins ?? [])],
  });
  const of = (events: readonly Event[], kind: EventKind) =>
    events.filter((event) => event.kind === kind).map(({ payload }) => payload) as never; // chosen by its kind
  return {
    ...rig,
    all,
    allOf: (kind) => of(all, kind),
    children: () => [...new Set(all.flatMap(({ session }) => (session === rig.session ? [] : [session])))],
    ofSession: (session, kind) =>
      of(
        all.filter((event) => event.session === session),
        kind,
      ),
    parsed: () =>
      all.flatMap((event) => {
        if (event.kind !== "ToolResult" || event.session !== rig.session) return [];
        return [JSON.parse(textsOf({ role: "user", content: event.payload.content }))];
      }),
    anywhere(kind) {
      const known = all.find((event) => event.kind === kind);
      if (known !== undefined) return Promise.resolve(known as never); // chosen by its kind
      return new Promise((resolve) => {
        const told = (event: Event): void => {
          if (event.kind !== kind) return;
          waiting.delete(told);
          resolve(event as never); // chosen by its kind
        };
        waiting.add(told);
      });
    },
  };
}
