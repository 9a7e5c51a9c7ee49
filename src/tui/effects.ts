/** What the interface asks to be done. Data only: `perform.ts` does it. */
import type { CallId, Decision, SessionCommand, SessionId } from "#client";
import type { LoadEffect } from "./loads.ts";
import type { PlanAnswer } from "./plan-question.ts";
import type { ThemeName } from "./theme.ts";

export type Effect =
  | { readonly type: "send" | "queue" | "steer" | "slash" | "command"; readonly text: string }
  | {
      readonly type: "answer";
      readonly session: SessionId;
      readonly id: CallId;
      readonly decision: Decision;
      readonly reason?: string;
      /** What is to run instead. */
      readonly args?: Readonly<Record<string, unknown>>;
    }
  | { readonly type: "reply"; readonly session: SessionId; readonly id: CallId; readonly text: string }
  /** Any other command of the protocol. `done`: shown when it was accepted; a refusal is always shown. */
  | {
      readonly type: "submit";
      readonly command: SessionCommand;
      /** Default: the session of the conversation. */
      readonly session?: SessionId;
      readonly done?: string;
    }
  /** A queued input comes back: `text` goes before what is typed, once it can no longer begin. */
  | { readonly type: "take-back"; readonly queued: number; readonly text: string }
  | LoadEffect
  /** The plan that waits is answered in this way, on the screen for that where something is to be typed. */
  | { readonly type: "plan"; readonly answer: PlanAnswer }
  /** What is typed goes; or it makes room for an answer, and comes back. */
  | { readonly type: "clear" | "set-aside" | "bring-back" }
  /** Opens a layer above the others. */
  | { readonly type: "open"; readonly layer: string; readonly argument?: string }
  /** A key for the editor. */
  | { readonly type: "type"; readonly sequence: string }
  /** Text at the cursor of the editor; a paste that is long is folded. */
  | { readonly type: "insert"; readonly text: string }
  | { readonly type: "paste"; readonly text: string }
  /** The whole text of the editor; `isOffering`: with what could follow. */
  | { readonly type: "write"; readonly text: string; readonly isOffering?: boolean }
  /** A file for other programs; the person reads where it is. */
  | { readonly type: "save"; readonly name: string; readonly text: string }
  | { readonly type: "theme"; readonly name: ThemeName }
  /** The conversation continues in another session. */
  | { readonly type: "switch"; readonly session: SessionId }
  | { readonly type: "hide-reminder" }
  /** Of the terminal, with what has scrolled away. */
  | { readonly type: "clear-screen" }
  | { readonly type: "cancel" | "leave" | "suspend" | "edit-outside" | "paste-image" };
