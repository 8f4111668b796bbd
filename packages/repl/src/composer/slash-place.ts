import type { CommandPlace, CommandResult } from "@gennai/client/slash-commands";
import type { ReplControl } from "../control/repl-control.ts";

/** What the page's commands work on: the shown session, or the one that the next prompt begins. */
export function slashPlace(control: ReplControl): CommandPlace {
  const followed = control.followed.value;
  return {
    session: followed && {
      sessionId: followed.session.sessionId,
      client: control.agent,
      settings: followed.settings.value,
    },
    governance: control.governance,
    userName: control.host.launch.clientName,
    abilities: new Set(["attempts", "continue", "models", "plan", "scenario"]),
    mode: (followed?.settings.value ?? control.choice.value).editingMode === "proposal" ? "Proposal" : "Branch",
    scenarios: control.directory.scenarios.value,
    skills: control.directory.skills.value,
    signal: control.signal,
    cutOffTurn: async () => followed?.view.value.facts.value.cutOffTurn,
    undo: async () => {
      const cells = followed?.view.value.cells ?? [];
      const sets = cells.map(({ item }) => item.value).filter((item) => item.kind === "change-set");
      const last = sets.findLast(({ undone }) => !undone);
      if (last === undefined) return "This session has no change set to take back.";
      await control.undoChangeSet(last.changeSetId);
      return "";
    },
    changeSettings: (choice) => control.changeSettings(choice),
  };
}

/** Does what a command says. @returns a message for the user, if the result is not visible anyway */
export async function carryOut(control: ReplControl, result: CommandResult): Promise<string | undefined> {
  switch (result.type) {
    case "said":
      return result.text === "" ? undefined : result.text;
    case "prompt":
      control.turns.sendDraft(result.text, result.scenario);
      return undefined;
    case "continue":
      await control.turns.goOn(result.turnId);
      return undefined;
    case "plan":
      if (result.goal !== "") await control.begun();
      control.panel.value = "plan";
      // The panel shows errors of the writing.
      if (result.goal !== "") void control.stores.value.plan?.plan(result.goal);
      return undefined;
    case "attempts":
      if (result.prompt === "") control.panel.value = "attempts";
      else void control.attempts.tryPrompt(result.prompt, result.count);
      return undefined;
    case "models":
      control.models.open();
      return undefined;
    case "scenario":
      control.scenario.value = result.name;
      return `Scenario ${result.name} from now on.`;
  }
}
