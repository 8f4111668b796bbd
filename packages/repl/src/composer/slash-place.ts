import type { CommandPlace, CommandResult } from "@gennai/client/commands/command";
import type { ReplControl } from "../control/repl-control.ts";

/** What the page's commands work on: the shown session, or the one that the next prompt begins. */
export function slashPlace(control: ReplControl): CommandPlace {
  const followed = control.followed.value;
  return {
    session: followed && {
      sessionId: followed.session.sessionId,
      workingDir: followed.session.workingDir,
      client: control.agent,
      settings: followed.settings.value,
    },
    governance: control.governance,
    userName: control.host.launch.clientName,
    views: new Set(["attempts", "checkpoints", "models", "plan", "review", "rules"]),
    mode: (followed?.settings.value ?? control.choice.value).editingMode === "proposal" ? "Proposal" : "Branch",
    scenarios: control.directory.scenarios.value,
    skills: control.directory.skills.value,
    signal: control.signal,
    cutOffTurn: async () => followed?.view.value.facts.value.cutOffTurn,
    undo: async () => {
      const last = followed?.view.value.changeSets.at(-1);
      if (last === undefined) return "This session has nothing to undo.";
      await control.sessions.undoChangeSet(last.changeSetId);
      return "";
    },
    changeSettings: (choice) => control.changeSettings(choice),
    useScenario: (name) => {
      control.scenario.value = name;
    },
    openSession: (sessionId) => (sessionId === undefined ? control.newSession() : control.sessions.switchTo(sessionId)),
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
    case "show":
      await showView(control, result);
      return undefined;
  }
}

async function showView(
  control: ReplControl,
  { view, text, count }: Extract<CommandResult, { readonly type: "show" }>,
): Promise<void> {
  switch (view) {
    case "plan":
      if (text !== "") await control.begun();
      control.panel.value = "plan";
      // The panel shows errors of the writing.
      if (text !== "") void control.stores.value.plan?.plan(text);
      return;
    case "attempts":
      if (text === "") control.panel.value = "attempts";
      else void control.attempts.tryPrompt(text, count);
      return;
    case "models":
      return control.models.open();
    case "rules":
      control.panel.value = "governance";
      return;
    case "review":
    case "checkpoints":
      control.panel.value = view;
      return;
    case "background":
    case "history":
    case "intents":
    case "sessions":
      throw new Error(`The page shows no ${view}.`);
  }
}
