import { fillTemplate, knownPlaceholders, type PromptValues, unknownPlaceholders } from "./prompt-template.ts";
import { type Scenario, ScenarioError } from "./scenario.ts";

/** The scenario's prompt with every placeholder filled in. Throws `ScenarioError` (`unknown_placeholder`). */
export function renderPrompt(scenario: Scenario, values: PromptValues): string {
  const unknown = unknownPlaceholders(scenario.prompt);
  if (unknown.length > 0) {
    throw new ScenarioError({
      severity: "error",
      code: "unknown_placeholder",
      file: scenario.source,
      line: undefined,
      scenario: scenario.name,
      field: "prompt",
      message: unknownPlaceholderMessage(unknown),
    });
  }
  return fillTemplate(scenario.prompt, values).trim();
}

export function unknownPlaceholderMessage(unknown: readonly string[]): string {
  const words = unknown.length === 1 ? "unknown placeholder" : "unknown placeholders";
  return `${words} ${unknown.join(", ")}. Known are ${knownPlaceholders.join(", ")}; write \\{{…}} to mean the braces themselves.`;
}
