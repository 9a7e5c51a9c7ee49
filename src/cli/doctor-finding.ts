/** What one check of the doctor has found. */
export interface Finding {
  readonly state: "ok" | "warning" | "error";
  readonly detail: string;
  readonly fix?: string;
}

export const ok = (detail: string): Finding => ({ state: "ok", detail });
export const warning = (detail: string, fix: string): Finding => ({ state: "warning", detail, fix });
export const wrong = (detail: string, fix: string): Finding => ({ state: "error", detail, fix });
