/** The memories around those of the third set: what a company knows about its other systems, in the words of the same trade. */
import type { Memory } from "#base";

const SYSTEMS =
  "tern osprey heron plover curlew egret gannet avocet bittern dunlin fulmar godwit grebe jackdaw kestrel lapwing linnet magpie merlin nightjar ouzel petrel pipit puffin quail raven redstart siskin skua snipe sparrow starling stonechat swift teal thrush turnstone wagtail wigeon wren".split(
    " ",
  );

// biome-ignore format: one fact on each line
const FACTS = [
  ["nightly import", "import, csv, supplier", "file from the partner, ftp", "The {} import reads the supplier's files from an FTP server and retries three times when the login is refused", ""],
  ["owner", "owner, contact", "who built it", "{} was written by the old platform team; its last owner left in 2022", "Ask in #platform."],
  ["queue consumer", "queue, consumer, dead-letter", "message stuck", "{} moves messages that fail five times to a dead letter queue nobody reads", ""],
  ["memory", "memory, heap, limit", "out of memory", "{} needs 2 GiB of heap, because it keeps the whole catalogue in memory", ""],
  ["release notes", "version, release, tag", "which version is live", "{} has no releases: each merge is tagged with the date and deployed by its own job", ""],
  ["certificate", "certificate, tls, expiry", "https, handshake failed", "The client certificate of {} is renewed by hand each August", ""],
  ["test data", "test, fixture, data", "sample, anonymous", "The tests of {} need the fixtures of the shared bucket; they are 400 MB", ""],
  ["legacy database", "database, oracle, schema", "table, column, sql", "{} still writes to the Oracle schema FIN2 besides its own database", ""],
  ["login", "login, ldap, password", "sign in, account", "People log in to {} with LDAP, not with single sign-on", ""],
  ["report", "report, pdf, month", "statistics, management", "{} sends a report as PDF to management on the third working day of a month", ""],
  ["cache", "cache, warm-up, start", "slow after a restart", "After a restart {} warms its cache for six minutes and answers 503 meanwhile", ""],
  ["api limit", "api, limit, partner", "quota, too many", "The partner behind {} counts requests by day: 10,000, then error 429", ""],
  ["dashboards", "dashboard, metric", "graph, chart", "The dashboard of {} shows the median only; percentiles are in its logs", ""],
  ["frontend", "frontend, angular, browser", "page, form, button", "The pages of {} are Angular 9 and look wrong in Firefox", ""],
  ["feature", "feature, flag, customer", "switch on", "Two customers have a feature of {} that is switched on by a row in a table", ""],
  ["build", "build, maven, java", "compile, jar", "{} is built with Maven and a parent POM from the old Nexus", ""],
  ["events", "event, order, topic", "publish, subscribe", "{} publishes an event for each changed order, also when nothing has changed", ""],
  ["images", "image, upload, size", "photo, picture", "{} stores uploaded images as they are; some have 20 MB", ""],
  ["review", "review, merge, rule", "approve a pull request", "Changes of {} need somebody who knows its tax rules to look at them", ""],
  ["backup", "backup, volume, restore", "lost, recover", "The volume of {} is backed up weekly; a restore was never tried", ""],
] as const;

/** 800 of them: as many as there are pairs of a system and a fact. */
export const thirdOthers: readonly Memory[] = SYSTEMS.flatMap((system) =>
  FACTS.map(([what, tags, keywords, description, body]) => ({
    name: `${system}-${what.replaceAll(" ", "-")}`,
    description: description.replace("{}", `${system[0]?.toUpperCase()}${system.slice(1)}`),
    body,
    ...{ tags: [system, ...tags.split(", ")], keywords: keywords.split(", ") },
    ...{ type: "project", scope: "project", tier: "long-term", source: "agent", labels: [], updated: "2026-04-01" },
  })),
);
