import { intentContext } from "@gennai/governance/intents/intent-context";
import type { BuiltInTool } from "@gennai/governance/tool";
import { z } from "zod";
import type { IntentsService } from "../../intents/intents-service.ts";
import type { ToolFact } from "../tool-fact.ts";

const parameters = z.strictObject({
  // Optional in the schema: a call without it is answered with the available ids.
  intent_id: z.string().max(200).optional().describe("Required: the id of the intent to work under."),
});

/** Selects an intent, and returns what it demands. */
export function selectActiveIntentTool(ports: {
  readonly intents: Pick<IntentsService, "selectable">;
}): BuiltInTool<z.infer<typeof parameters>> {
  return {
    name: "select_active_intent",
    description:
      "Selects the intent you work under, and returns its scope, constraints and acceptance criteria. " +
      "Call it before anything that changes files, runs commands or proposes changes.",
    parameters,
    access: "change",
    async analyse(args) {
      const intent = await ports.intents.selectable(args.intent_id);
      return { statement: `Select the intent ${intent.id}: ${intent.name}`, effects: [{ type: "session" }] };
    },
    async execute(args) {
      const intent = await ports.intents.selectable(args.intent_id);
      const context = intentContext(intent);
      const fact: ToolFact = { type: "intent-selected", intent, context };
      return { output: context, facts: [fact] };
    },
  };
}
