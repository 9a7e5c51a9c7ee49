/** The terminal interface: a client of a session, on the main screen of a terminal. */
export { type EarlyScreen, takeScreenEarly } from "./early-screen.ts";
export { type InterfaceEnd, type InterfaceParts, runInterface } from "./interface.ts";
export { createProcessScreen, type ScreenPort } from "./screen-port.ts";
export { type ThemeName, themes } from "./theme.ts";
