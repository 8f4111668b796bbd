import type { CallContext, ExecutionContext } from "@gennai/governance/tool";

/** What a tool is run with where no gate is: whatever it did may be kept. */
export function executionContext(more: Partial<ExecutionContext> = {}): ExecutionContext {
  const context: CallContext = { callId: "call-1", turnId: "turn-1", signal: new AbortController().signal };
  return {
    ...context,
    onOutput: () => undefined,
    judge: async () => ({ type: "keep", dropped: [] }),
    confirmed: false,
    ...more,
  };
}
