/** A feed that a driver fills as things come in. */
import { defined } from "#base";
import type { EventKind } from "#protocol";
import type { Feed, Sighting } from "../driver.ts";
import type { News } from "../news.ts";

export interface OpenFeed extends Feed {
  add(...sightings: readonly Sighting[]): void;
  beat(): void;
}

export function createFeed(
  news: News,
  options: {
    readonly carried?: ReadonlySet<EventKind>;
    readonly stop: () => void | Promise<void>;
    readonly pause?: () => void;
    readonly resume?: () => void;
  },
): OpenFeed {
  const seen: Sighting[] = [];
  let heartbeats = 0;
  return {
    seen,
    carried: options.carried,
    async heartbeat() {
      await news.until(() => (heartbeats > 0 ? true : undefined), "a heartbeat");
    },
    until: (fits, what) => news.until(() => seen.find(fits), what),
    add(...sightings) {
      seen.push(...sightings);
      news.tell();
    },
    beat() {
      heartbeats += 1;
      news.tell();
    },
    ...defined({ pause: options.pause, resume: options.resume }),
    async stop() {
      await options.stop();
    },
  };
}

/** The feeds of one connection: they end with it. */
export function createOpenFeeds(): {
  keep(opening: Promise<Feed>): Promise<Feed>;
  stop(): Promise<void>;
} {
  const open = new Set<Feed>();
  return {
    async keep(opening) {
      const feed = await opening;
      open.add(feed);
      return feed;
    },
    async stop() {
      await Promise.all([...open].map((feed) => feed.stop()));
    },
  };
}
