/** The entry of the credential helper's process; started by the engine, never by a person. */
import { runCredentialHelper } from "./credentials/helper-process.ts";

runCredentialHelper();
