/** Tool middleware: what a tool gives back is redacted before hooks, scripts and the model see it. */
import { type Redaction, refusal, type ToolMiddleware } from "#engine";
import { reasonText } from "#protocol";

export function createResultRedaction(redaction: Redaction): ToolMiddleware {
  return async (call, next) => {
    const result = await next(call);
    try {
      const content = redaction.output(result.content);
      return content === result.content ? result : { ...result, content };
    } catch {
      // The call has run; what it gave back is lost rather than shown.
      return refusal(
        "error",
        "RedactionFailed",
        reasonText("RedactionFailed", { detail: `the result of ${call.tool.name}` }),
      );
    }
  };
}
