/** The whole fail-closed matrix: each guard event, each way in which a hook can fail, at depths 0 and 1. */
import { testFailClosed } from "../fakes/fail-closed-matrix.ts";

testFailClosed(() => true);
