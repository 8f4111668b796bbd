import type { Scenario } from "@gennai/agent/scenarios/scenario";
import { canStage } from "@gennai/agent/scenarios/tool-groups";
import type { EditingMode } from "@gennai/governance/policies/branch";
import type { EditingMode as ChosenMode } from "@gennai/protocol/model/session/session-settings";
import type { Session } from "../session/session.ts";

type Place = Pick<Session, "services" | "workspace">;

/** The mode in force for a scenario: in Proposal Mode its changes are staged, if possible. */
export async function modeFor(place: Place, scenario: Scenario, chosen: ChosenMode): Promise<EditingMode> {
  if (chosen === "branch" || !canStage(scenario.tools)) return chosen;
  return (await whyNotStaged(place)) === undefined ? "staged-proposal" : "proposal";
}

/** Default scenario of Proposal Mode: one that edits and runs on a stage, if possible, otherwise the strict one. */
export async function scenarioForProposals(place: Place): Promise<string> {
  return (await whyNotStaged(place)) === undefined ? "CODE" : "EDITOR_CODE";
}

/** Why Proposal Mode cannot stage anything here; undefined if it can. */
export async function whyNotStaged({ services, workspace }: Place): Promise<string | undefined> {
  if (workspace.client !== undefined) return "the files of this workspace are on another machine";
  if (services.stages === undefined) return "commands are not staged on this server";
  const support = await services.stages.support(workspace.root);
  return support.state === "staged" ? undefined : support.reason.replace(/\.$/, "");
}

/** The message if Proposal Mode cannot stage anything. @param why from `whyNotStaged` */
export function onlyProposes(why: string): string {
  return `Proposal Mode only proposes here, and runs no commands: nothing can be staged, because ${why}.`;
}
