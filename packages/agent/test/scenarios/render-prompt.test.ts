import { describe, expect, it } from "vitest";
import { renderPrompt } from "#scenarios/render-prompt";
import { ScenarioError } from "#scenarios/scenario";

const values = {
  userInput: "say {{workingDir}} $& \\{{x}}",
  workingDir: "/w",
  scenario: "REVIEW",
  scenarioReason: "chosen",
  todos: "[ ] one",
  projectNotes: "notes",
  date: "2026-11-03",
  platform: "linux",
};

function render(prompt: string) {
  const scenario = { name: "REVIEW", description: "", tools: [], toolsText: "", mcp: [], prompt, source: "team.yaml" };
  return renderPrompt(scenario, values);
}

describe("renderPrompt", () => {
  it.each([
    ["in {{workingDir}} for {{scenario}}", "in /w for REVIEW"],
    ["{{.WorkingDir}} {{ working_dir }} {{WORKINGDIR}} {{workingDirectory}}", "/w /w /w /w"],
    ["{{scenarioReason}} {{todos}} {{date}} {{platform}}", "chosen [ ] one 2026-11-03 linux"],
    ["Guide: {{ @AGENTS.md }}", "Guide: notes"],
    ["{{userInput}}", "say {{workingDir}} $& \\{{x}}"],
    ["helm: \\{{ .Values.x }} {not one} {{{workingDir}}}", "helm: {{ .Values.x }} {not one} {/w}"],
  ])("fills %j", (prompt, wanted) => {
    expect(render(prompt)).toBe(wanted);
  });

  it.each([["{{foo}}"], ["{{ @secrets.txt }}"], ["{{}}"], ["{{constructor}}"]])("refuses %j", (prompt) => {
    expect(() => render(prompt)).toThrow(ScenarioError);
    expect(() => render(prompt)).toThrow(
      /^team\.yaml: REVIEW\.prompt: unknown placeholder .*Known are \{\{userInput\}\}/,
    );
  });
});
