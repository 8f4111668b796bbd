import type { Policy } from "../policy.ts";
import { allow, ask } from "../verdict.ts";

export const scopeExpansionTool = "request_scope_expansion";

/** Only the user can widen an intent's scope. The call's statement shows the new scope. */
export function createScopeExpansionPolicy(): Policy {
  return {
    name: "scope-expansion",
    kind: "guard",
    decide: ({ toolName, analysis }) =>
      toolName === scopeExpansionTool
        ? ask({
            code: "scope_expansion",
            rule: "intents/scope-expansion",
            reason: `The agent asks for more than its intent owns. ${analysis.statement}`,
          })
        : allow,
  };
}
