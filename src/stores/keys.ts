/** The machine's key and where things are kept, without the stores: for commands that open no log. */
export { deriveKey, type MachineKey, machineKeySource } from "./machine-key.ts";
export { harnessPaths } from "./paths.ts";
