/** All layers. A new one is a file in `layers/` and a line here. */
import type { Layer } from "./layer.ts";
import { ackLayer } from "./layers/ack.ts";
import { branchLayer } from "./layers/branch.ts";
import { callLayer } from "./layers/call.ts";
import { diffLayer } from "./layers/diff.ts";
import { helpLayer } from "./layers/help.ts";
import { historyLayer } from "./layers/history.ts";
import { hooksLayer } from "./layers/hooks.ts";
import { jobsLayer } from "./layers/jobs.ts";
import { modelLayer } from "./layers/model.ts";
import { agentsLayer, skillsLayer } from "./layers/named-commands.ts";
import { paletteLayer } from "./layers/palette.ts";
import { panelLayer } from "./layers/panel.ts";
import { planLayer } from "./layers/plan.ts";
import { reviewLayer } from "./layers/review.ts";
import { rulesLayer } from "./layers/rules.ts";
import { schedulesLayer } from "./layers/schedules.ts";
import { searchLayer } from "./layers/search.ts";
import { serversLayer } from "./layers/servers.ts";
import { sessionsLayer } from "./layers/sessions.ts";
import { themeLayer } from "./layers/theme.ts";
import { transcriptLayer } from "./layers/transcript.ts";
import { undoLayer } from "./layers/undo.ts";

export const layers: readonly Layer[] = [
  callLayer,
  helpLayer,
  historyLayer,
  paletteLayer,
  reviewLayer,
  ackLayer,
  diffLayer,
  transcriptLayer,
  sessionsLayer,
  searchLayer,
  modelLayer,
  undoLayer,
  branchLayer,
  rulesLayer,
  themeLayer,
  skillsLayer,
  agentsLayer,
  serversLayer,
  hooksLayer,
  jobsLayer,
  schedulesLayer,
  panelLayer,
  planLayer,
];
