/** Requirements as data, scenarios that hold a server to them on each of its wires, and what came of it. */
export type { Connection, Feed, Target, Wire } from "./driver.ts";
export { wires } from "./driver.ts";
export { type HttpTargetOptions, httpTarget, httpWires } from "./http-target.ts";
export { conformanceXml } from "./junit.ts";
export { probe } from "./probe.ts";
export { documents, isRequirement, type RequirementId, requirements } from "./requirements.ts";
export { rpcTarget } from "./rpc-target.ts";
export { citedOn, conforms, type Finding, type Report, runConformance, type Verdict, verdictsOn } from "./run.ts";
export { scenarios } from "./scenarios/index.ts";
export { parseLanAddress, parseTargetAddress } from "./target-address.ts";
