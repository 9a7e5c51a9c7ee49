/** Every scenario, in the order in which they run. */
import type { Scenario } from "../scenario.ts";
import { accessScenarios } from "./access.ts";
import { handshakeScenarios } from "./handshake.ts";
import { inputScenarios } from "./inputs.ts";
import { permissionScenarios } from "./permissions.ts";
import { plainScenarios } from "./plain-surface.ts";
import { restartScenarios } from "./restarts.ts";
import { rpcScenarios } from "./rpc-surface.ts";
import { sessionScenarios } from "./sessions.ts";
import { streamScenarios } from "./streams.ts";
import { tokenEndScenarios } from "./token-end.ts";
import { turnScenarios } from "./turns.ts";

/** The plain surface comes before anybody has shaken hands for the second person. */
export const scenarios: readonly Scenario[] = [
  ...handshakeScenarios,
  ...plainScenarios,
  ...turnScenarios,
  ...permissionScenarios,
  ...streamScenarios,
  ...inputScenarios,
  ...sessionScenarios,
  ...rpcScenarios,
  ...accessScenarios,
  ...tokenEndScenarios,
  ...restartScenarios,
];
