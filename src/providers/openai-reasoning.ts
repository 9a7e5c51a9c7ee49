/** Gathers the reasoning fields of a chat completions stream into one value that can be sent back in the same shape. */

interface ReasoningDelta {
  readonly reasoning_content?: string | null;
  readonly reasoning?: string | null;
  readonly reasoning_details?: readonly object[] | null;
}

/** One entry of `reasoning_details`; the streamed pieces of an entry share type and index. */
interface Detail {
  type?: unknown;
  index?: unknown;
  text?: unknown;
  summary?: unknown;
  data?: unknown;
  id?: unknown;
  [field: string]: unknown;
}

const JOINED_FIELDS = ["text", "summary"] as const;

export interface Reasoning {
  /** The text that a person can read in this piece, said once however many fields repeat it. */
  add(delta: ReasoningDelta): string;
  /** What was gathered since the last call, or undefined. */
  take(): Record<string, unknown> | undefined;
}

export function createReasoning(): Reasoning {
  let content = "";
  let plain = "";
  let details: Detail[] = [];
  return {
    add(delta) {
      let shown = "";
      if (delta.reasoning_content) {
        content += delta.reasoning_content;
        shown = delta.reasoning_content;
      }
      if (delta.reasoning) {
        plain += delta.reasoning;
        shown ||= delta.reasoning;
      }
      if (delta.reasoning_details) {
        let told = "";
        // The vendor's objects: every field of a Detail is optional and unknown.
        for (const detail of delta.reasoning_details as readonly Detail[]) told += addDetail(details, detail);
        shown ||= told;
      }
      return shown;
    },
    take() {
      if (content === "" && plain === "" && details.length === 0) return undefined;
      const data = {
        ...(content === "" ? {} : { reasoning_content: content }),
        ...(plain === "" ? {} : { reasoning: plain }),
        ...(details.length === 0 ? {} : { reasoning_details: details }),
      };
      content = "";
      plain = "";
      details = [];
      return data;
    },
  };
}

function addDetail(details: Detail[], detail: Detail): string {
  const last = details.at(-1);
  const continues = last?.type === detail.type && last?.index === detail.index && (detail.id ?? last?.id) === last?.id;
  // Encrypted entries come whole: two in a row are two.
  if (last !== undefined && continues && detail.data === undefined) {
    for (const [field, value] of Object.entries(detail)) {
      const before = last[field];
      const joins = JOINED_FIELDS.some((name) => name === field) && typeof before === "string";
      if (joins && typeof value === "string") last[field] = before + value;
      else if (value !== null && value !== undefined) last[field] = value;
    }
  } else details.push({ ...detail });
  const text = detail.text ?? detail.summary;
  return typeof text === "string" ? text : "";
}
