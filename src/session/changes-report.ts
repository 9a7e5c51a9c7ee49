/** What a session changed, as it leaves the session: bounded and redacted. */
import type { EventBus } from "#engine";
import type { ReplyOf } from "#protocol";
import type { SessionChanges } from "#undo";

const LISTED_MAX = 1_000;

type Report = ReplyOf<"DescribeChanges">["result"];

export function changesReport(
  { changes, unknown, interrupted, file }: SessionChanges,
  bus: Pick<EventBus, "redacted">,
): Report {
  const report: Report = {
    changes: changes.slice(0, LISTED_MAX),
    more: Math.max(0, changes.length - LISTED_MAX),
    unknown: unknown.slice(0, LISTED_MAX),
    interrupted: interrupted.slice(0, LISTED_MAX),
    ...(file !== undefined && { file }),
  };
  const { payload } = bus.redacted("CustomEvent", { namespace: "changes", kind: "session", payload: report });
  return payload as Report; // the redactor changes texts alone
}
