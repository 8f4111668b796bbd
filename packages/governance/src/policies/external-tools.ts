import type { ExternalCall } from "../effect.ts";
import { eachEffect, type Policy } from "../policy.ts";
import { allow, ask, type Verdict } from "../verdict.ts";

/**
 * An external tool runs as it was accepted. A new one, or one whose description or server changed, asks first: a description is
 * an instruction to the model, and a server can change it at any time.
 */
export function createExternalToolsPolicy(): Policy {
  return eachEffect("external-tools", (effect) => (effect.type === "external" ? ofCall(effect) : allow));
}

function ofCall({ accepted, byOtherServer, server, tool }: ExternalCall): Verdict {
  switch (accepted) {
    case "yes":
      return allow;
    case "new":
      return ask({
        code: "new_external_tool",
        rule: "external-tools/new-definition",
        reason: `${tool} of the MCP server ${server} was not accepted yet; a yes accepts it as it is described now.`,
      });
    case "changed":
      return ask({
        code: "changed_external_tool",
        rule: "external-tools/changed-definition",
        reason: byOtherServer
          ? `The MCP server ${server} runs or is reached differently than when ${tool} was accepted; a yes accepts it so.`
          : `The MCP server ${server} describes ${tool} differently than when it was accepted; a yes accepts the new description.`,
      });
  }
}
