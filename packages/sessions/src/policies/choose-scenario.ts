import type { Scenario } from "@gennai/agent/scenarios/scenario";
import { ServiceError } from "@gennai/machine/service-error";
import type { Session } from "../session/session.ts";
import { loadScenarios } from "./load-scenarios.ts";
import { scenarioForProposals } from "./proposal-mode.ts";

/**
 * The scenario with this name, in any letter case; empty: the editing mode's default. Throws `ServiceError` for an unknown
 * name.
 */
export async function chooseScenario(
  session: Session,
  asked: string,
): Promise<{ readonly scenario: Scenario; readonly warnings: readonly string[] }> {
  const isProposal = session.settings.editingMode === "proposal";
  const name = asked === "" ? (isProposal ? await scenarioForProposals(session) : "CODE") : asked;
  const { scenarios, warnings } = await loadScenarios(session.workspace.controlRoot);
  const scenario = scenarios.get(name.toUpperCase());
  if (scenario !== undefined) return { scenario, warnings };
  throw new ServiceError("not_found", `There is no scenario ${JSON.stringify(name.slice(0, 100))}.`, {
    hint: [`Scenarios: ${[...scenarios.keys()].join(", ")}.`, ...warnings].join(" "),
  });
}
