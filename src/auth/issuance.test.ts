import { describe, expect, test } from "vitest";
import { type ConfirmationChannel, createIssuance } from "#auth";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { someClaims, tokenId } from "../../test/fakes/token-claims.ts";
import { CODE_VALID_MS, PENDING_MAX, REQUESTS_PER_MINUTE } from "./issuance.ts";

function rig(
  channels: readonly { kind: ConfirmationChannel["kind"]; there?: boolean; shows?: boolean }[] = [{ kind: "terminal" }],
) {
  const clock = createManualClock();
  const shown: string[] = [];
  let draw = 0;
  const issuance = createIssuance({
    clock,
    // The first draw is thrown away: it is beyond the last whole million.
    random: {
      bytes: (count) => {
        draw += 1;
        const bytes = Buffer.alloc(count);
        bytes.writeUInt32BE(draw === 1 ? 0xffff_ffff : 42 + draw);
        return bytes;
      },
    },
    channels: channels.map(({ kind, there = true, shows = true }) => ({
      kind,
      isThere: () => there,
      show: async (code) => {
        if (shows) shown.push(`${kind} ${code}`);
        return shows;
      },
    })),
  });
  const confirm = (code: string, jti = tokenId(1)): unknown => {
    try {
      return issuance.confirm(jti, code);
    } catch (error) {
      return (error as Error).message;
    }
  };
  return { clock, issuance, shown, confirm };
}

describe("issuance", () => {
  test("the code that was shown gives the claims that were shown, once", async () => {
    const { issuance, shown, confirm, clock } = rig();
    expect(await issuance.begin(someClaims())).toEqual({ channel: "terminal", expiresAtMs: clock.now() + 60_000 });
    expect(shown).toEqual(["terminal 000044"]);
    expect(confirm("000044")).toEqual(someClaims());
    expect(confirm("000044")).toMatch(/no request is waiting/);
  });

  test("three attempts, then it is over, also for the right code", async () => {
    const { issuance, confirm } = rig();
    await issuance.begin(someClaims());
    expect(confirm("000000")).toMatch(/attempts left: 2/);
    expect(confirm("0000440")).toMatch(/attempts left: 1/);
    expect(confirm("44")).toMatch(/no attempts are left/);
    expect(confirm("000044")).toMatch(/no request is waiting/);
  });

  test("the code is good for a minute", async () => {
    const { issuance, confirm, clock } = rig();
    await issuance.begin(someClaims());
    await clock.advance(CODE_VALID_MS - 1);
    expect(confirm("111111")).toMatch(/attempts left: 2/);
    await clock.advance(1);
    expect(confirm("000044")).toMatch(/no request is waiting/);
  });

  test("a code is for its own request", async () => {
    const { issuance, confirm, shown } = rig();
    await issuance.begin(someClaims());
    await issuance.begin(someClaims({ jti: tokenId(2) }));
    expect(shown).toEqual(["terminal 000044", "terminal 000045"]);
    expect(confirm("000045")).toMatch(/the code is wrong/);
    expect(confirm("000045", tokenId(2))).toMatchObject({ jti: tokenId(2) });
  });

  test("an attached client comes before the terminal, the terminal before a notification", async () => {
    const all = [{ kind: "notification" }, { kind: "terminal" }, { kind: "client" }] as const;
    const channel = async (channels: Parameters<typeof rig>[0]) =>
      (await rig(channels).issuance.begin(someClaims())).channel;
    expect(await channel(all)).toBe("client");
    expect(await channel([all[0], all[1], { kind: "client", there: false }])).toBe("terminal");
    expect(await channel([all[0], { kind: "terminal", shows: false }])).toBe("notification");
  });

  test("nowhere to ask is a refusal that says what to do", async () => {
    for (const channels of [[], [{ kind: "terminal", there: false }], [{ kind: "client", shows: false }]] as const) {
      await expect(rig(channels).issuance.begin(someClaims())).rejects.toThrow(/token file/);
    }
  });

  test("nobody is asked more often than a few times a minute", async () => {
    const { issuance, clock } = rig();
    for (let i = 0; i < REQUESTS_PER_MINUTE; i++) await issuance.begin(someClaims({ jti: tokenId(i) }));
    await expect(issuance.begin(someClaims())).rejects.toMatchObject({ reason: "TooManyFailures" });
    await clock.advance(60_000);
    await issuance.begin(someClaims());
    expect(PENDING_MAX).toBeGreaterThan(REQUESTS_PER_MINUTE);
  });
});
