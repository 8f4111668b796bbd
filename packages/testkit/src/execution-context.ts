import type { CallContext, ConnectionJudgement, ExecutionContext } from "@gennai/governance/tool";

const refusedNetwork: ConnectionJudgement = {
  type: "refused",
  error: { code: "nobody_to_ask", message: "Nobody can be asked.", retryable: false },
  decision: {
    call: { id: "call-1", name: "Bash", argumentsJson: "{}" },
    verdict: "deny",
    risk: "medium",
    rule: "network/connection",
    reason: "",
    effects: [],
    input: "{}",
  },
};

/** What a tool is run with where no gate is: whatever it did may be kept. */
export function executionContext(more: Partial<ExecutionContext> = {}): ExecutionContext {
  const context: CallContext = { callId: "call-1", turnId: "turn-1", signal: new AbortController().signal };
  return {
    ...context,
    onOutput: () => undefined,
    judge: async () => ({ type: "keep", dropped: [] }),
    hasTool: () => true,
    confirmed: false,
    network: { standing: async () => [], letThrough: async () => refusedNetwork, reached: async () => undefined },
    ...more,
  };
}
