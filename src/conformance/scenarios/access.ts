/** Access checks: tokens, Host and Origin. */
import type { Connection } from "../driver.ts";
import { Refused } from "../drivers/rest.ts";
import { type Scenario, scenario } from "../scenario.ts";
import { HELLO } from "./steps.ts";

const HTTP = ["rest", "ws", "plain"] as const;
const FOREIGN_ORIGIN = "https://conformance.example";

export const accessScenarios: readonly Scenario[] = [
  scenario("no token, and an unknown token", HTTP, ["auth:required", "auth:unknown"]).onStage(
    async ({ session, connection }, trial) => {
      const nobody = await attempt(() => trial.target.connect("nobody"), session);
      trial.check("auth:required", nobody === 401, `without a token, the server answers ${nobody}`);
      const stranger = await attempt(() => trial.target.connect("stranger"), session);
      trial.check("auth:unknown", stranger === 401, `with an unknown token, the server answers ${stranger}`);
      // The small surface and the reads need no handshake, but they do need a token.
      for (const path of ["/v1/sessions", "/v1/tools", `/v1/sessions/${session}/log`, `/events?session=${session}`]) {
        const reply = await connection.http?.ask("GET", path, { token: null });
        trial.check(
          "auth:required",
          reply?.status === 401,
          `the server answers GET ${path} without a token with ${reply?.status}`,
        );
      }
      const log = await connection.log(session);
      trial.check(
        "auth:required",
        !JSON.stringify(log).includes(HELLO),
        "the server accepted an input without a token",
      );
    },
  ),
  scenario("another host, another origin", ["rest"], ["auth:host", "auth:origin"]).runs(async (trial) => {
    const { http } = await trial.connect();
    if (http === undefined) throw new Error("REST has requests");
    const host = await http.ask("GET", "/v1/health", { headers: { host: "conformance.example" } });
    trial.check("auth:host", host.status === 421 || host.status === 403, `the server answers ${host.status}`);
    const twice = await http.exchange([
      "GET /v1/health HTTP/1.1",
      `Host: ${http.host}`,
      "Host: conformance.example",
      "Connection: close",
    ]);
    trial.check(
      "auth:host",
      /^HTTP\/1\.1 4\d\d /.test(twice),
      `with two Host headers, the server answers ${twice.slice(0, 40)}`,
    );
    const origin = await http.ask("GET", "/v1/health", { headers: { origin: FOREIGN_ORIGIN } });
    trial.check("auth:origin", origin.status === 403, `the server answers ${origin.status}`);
    const preflight = await http.ask("OPTIONS", "/v1/sessions", {
      token: null,
      headers: { origin: FOREIGN_ORIGIN, "access-control-request-method": "POST" },
    });
    const allowed = preflight.headers["access-control-allow-origin"];
    trial.check(
      "auth:origin",
      preflight.status >= 400 && allowed === undefined,
      `the server answers the preflight request with ${preflight.status}`,
    );
  }),
  scenario("an expired token", ["rest", "ws"], ["auth:expired"], ["expired token", "other human"]).runs(
    async (trial) => {
      const connection = await trial.connect("other human");
      const session = await trial.session(connection);
      await trial.target.expireToken?.("other human");
      const { ok, reason } = await connection.send(session, "say hello");
      trial.check("auth:expired", !ok && reason === "TokenExpired", `the server answered ${reason ?? "success"}`);
    },
  ),
];

/** The status that the caller is refused with, or 0 if the server accepts it. */
async function attempt(connect: () => Promise<Connection>, session: string): Promise<number> {
  try {
    const connection = await connect();
    const answers = [await connection.handshake(), await connection.send(session, "say hello")];
    await connection.close();
    return answers.every(({ ok }) => !ok) ? (answers[1]?.status ?? 0) : 0;
  } catch (error) {
    if (error instanceof Refused) return error.answer.status ?? 0;
    throw error;
  }
}
