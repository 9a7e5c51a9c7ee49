/** The model of the session as a tool sees it: one question beside the conversation, with nothing of the conversation in it. */

export interface ModelQuestion {
  readonly system: readonly string[];
  /** In turns, the first and the last by the user. */
  readonly messages: readonly ModelQuestionMessage[];
  /** The answer ends there. */
  readonly maxTokens: number;
  readonly temperature?: number;
}

export interface ModelQuestionMessage {
  readonly role: "user" | "assistant";
  readonly content: readonly ModelQuestionBlock[];
}

export type ModelQuestionBlock =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "image";
      readonly media_type: "image/png" | "image/jpeg" | "image/gif" | "image/webp";
      readonly data: string;
    };

export interface ModelReply {
  readonly text: string;
  /** `provider:name`. */
  readonly model: string;
  /** It reached `maxTokens`. */
  readonly isCut: boolean;
}

export interface ModelPort {
  /** Rejects with an `EffectError` (`ModelFailed`, `Cancelled`, `AccessDenied`). */
  ask(question: ModelQuestion, signal: AbortSignal): Promise<ModelReply>;
}
