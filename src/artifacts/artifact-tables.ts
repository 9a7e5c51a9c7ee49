/** Every table of the files that people write, in the order in which they are documented. */
import { agentTable } from "./agent-table.ts";
import { bundleTable } from "./bundle-table.ts";
import { configTable } from "./config-table.ts";
import { contextTable } from "./context-table.ts";
import { hookTable } from "./hook-table.ts";
import { budgetsTable, budgetTable, delegationTable, metaTable } from "./limits-table.ts";
import { serverTable } from "./mcp-table.ts";
import { memoryTable } from "./memory-table.ts";
import { modelTable, retryTable, timeoutsTable } from "./model-table.ts";
import { networkTable, permissionsTable, ruleTable } from "./rules-table.ts";
import type { Table } from "./schema.ts";
import { serveTable, sourceTables } from "./serve-table.ts";
import { declaredSourceTable, projectContextTable, resourceTable } from "./source-table.ts";
import { parameterTable, toolTable } from "./tool-table.ts";
import { patternTable, toolsPolicyTable } from "./tools-policy.ts";

export const artifactTables: readonly Table[] = [
  configTable,
  modelTable,
  retryTable,
  timeoutsTable,
  projectContextTable,
  declaredSourceTable,
  resourceTable,
  contextTable,
  memoryTable,
  toolTable,
  parameterTable,
  hookTable,
  agentTable,
  bundleTable,
  toolsPolicyTable,
  patternTable,
  permissionsTable,
  ruleTable,
  networkTable,
  serverTable,
  delegationTable,
  metaTable,
  budgetsTable,
  budgetTable,
  serveTable,
  ...Object.values(sourceTables),
];
