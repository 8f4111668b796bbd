import { expandedScope } from "@gennai/governance/intents/expand-scope";
import type { Intent } from "@gennai/governance/intents/intent";
import { intentContext } from "@gennai/governance/intents/intent-context";
import { scopeExpansionTool } from "@gennai/governance/intents/scope-expansion-policy";
import type { BuiltInTool } from "@gennai/governance/tool";
import { z } from "zod";
import { type IntentsService, invalidScope } from "../../intents/intents-service.ts";
import type { ToolFact } from "../tool-fact.ts";

const parameters = z.strictObject({
  paths: z
    .array(z.string().min(1, "A path must not be empty.").max(500, "A path is longer than 500 characters."))
    .min(1, "paths must not be empty.")
    .max(50, "At most 50 paths go with a request.")
    .describe("Paths or globs to add to the intent's scope, relative to the workspace. Ask for no more than you need."),
  reason: z
    .string()
    .trim()
    .min(1, "reason must not be empty.")
    .max(2000, "reason is longer than 2,000 characters.")
    .describe("Why the intent needs them, for the user."),
});

/**
 * Asks the user for more scope: `createScopeExpansionPolicy` makes the gate ask, and `execute` runs only after a yes. High
 * risk, so that no yes is remembered or given by a flag.
 */
export function requestScopeExpansionTool(ports: {
  readonly intents: Pick<IntentsService, "selectable" | "expandScope">;
  /** Id of the session's intent. */
  readonly activeIntent: () => string | undefined;
}): BuiltInTool<z.infer<typeof parameters>> {
  const active = (): Promise<Intent> => ports.intents.selectable(ports.activeIntent());
  return {
    name: scopeExpansionTool,
    description:
      "Asks the user to let the selected intent own more paths. Use it after a Scope Violation, for what the work needs.",
    parameters,
    access: "change",
    async analyse({ paths, reason }) {
      const intent = await active();
      const expansion = expandedScope(intent, paths);
      if (expansion.type === "refused") throw invalidScope(expansion.why);
      const owned = intent.ownedScope.join(", ");
      return {
        statement:
          `Extend the scope of ${intent.id} (${intent.name}) by ${expansion.added.map((path) => `+${path}`).join(" ")}; ` +
          `it owns ${owned === "" ? "nothing" : owned} now.`,
        effects: [{ type: "session" }],
        claim: reason,
        risk: "high",
      };
    },
    async execute({ paths }) {
      const { id } = await active();
      const intent = await ports.intents.expandScope(id, paths);
      const context = intentContext(intent);
      const fact: ToolFact = { type: "intent-selected", intent, context };
      return { output: `The user agreed. The intent is now:\n${context}`, facts: [fact] };
    },
  };
}

const selectParameters = z.strictObject({
  // Optional in the schema: a call without it is answered with the available ids.
  intent_id: z.string().max(200).optional().describe("Required: the id of the intent to work under."),
});

/** Selects an intent, and returns what it demands. */
export function selectActiveIntentTool(ports: {
  readonly intents: Pick<IntentsService, "selectable">;
}): BuiltInTool<z.infer<typeof selectParameters>> {
  return {
    name: "select_active_intent",
    description:
      "Selects the intent you work under, and returns its scope, constraints and acceptance criteria. " +
      "Call it before anything that changes files, runs commands or proposes changes.",
    parameters: selectParameters,
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
