import { mostAttempts } from "@gennai/protocol/model/session/attempt";
import type { EditingMode } from "@gennai/protocol/model/session/session-settings";
import { type CommandPlace, type CommandResult, type SlashCommand, said, shown } from "./command.ts";

/** How the agent works: on what, with which model. */
export const modeCommands: readonly SlashCommand[] = [
  {
    name: "plan",
    argument: "[GOAL]",
    description: "Writes a plan for a goal, to be approved before anything runs; alone: shows the plans",
    isOffered: ({ views }) => views.has("plan"),
    run: (_place, text) => shown("plan", { text }),
  },
  {
    name: "proposal",
    argument: "[PROMPT]",
    description: "Proposal Mode from now on: nothing is written before you have reviewed it",
    run: (place, prompt) => useMode(place, "proposal", prompt),
  },
  {
    name: "branch",
    argument: "[PROMPT]",
    description: "Branch Mode from now on: changes go to a branch of the agent",
    run: (place, prompt) => useMode(place, "branch", prompt),
  },
  {
    name: "mode",
    argument: "[NAME]",
    description: "Sets the mode: branch, proposal or plan; alone: says which it is",
    run: (place, name) => {
      if (name === "plan" && place.views.has("plan")) return shown("plan");
      if (name === "branch" || name === "proposal") return useMode(place, name, "");
      return said(name === "" ? `${place.mode} Mode.` : "There are three modes: branch, proposal and plan.");
    },
  },
  {
    name: "attempts",
    argument: "[N] [PROMPT]",
    description: "Tries a prompt N times side by side, each on a copy (3 times without N); alone: shows the attempts",
    isOffered: ({ views }) => views.has("attempts"),
    run: (_place, typed) => {
      const [, number = "3", text = ""] = /^(?:(\d+)(?:\s+|$))?([\s\S]*)$/.exec(typed) ?? [];
      if (text === "" && typed !== "") return said(`Say what to try: /attempts ${number} PROMPT`);
      const count = Number(number);
      if (count < 2 || count > mostAttempts) return said(`A prompt is tried 2 to ${mostAttempts} times.`);
      return shown("attempts", { text, count });
    },
  },
  {
    name: "model",
    argument: "[NAME]",
    description: "Uses another model of the same provider; alone: shows the choice, or which is in use",
    run: async (place, model) => {
      if (model !== "")
        return said((await place.changeSettings({ model })) ? `The model is ${model} from now on.` : "");
      if (place.views.has("models")) return shown("models");
      return said(`The model is ${place.session?.settings.model || "not chosen"}; /model NAME uses another one.`);
    },
  },
  {
    name: "scenario",
    argument: "[NAME]",
    description: "Uses a scenario for the turns that come; alone: lists them",
    isOffered: ({ useScenario }) => useScenario !== undefined,
    run: ({ scenarios, useScenario }, name) => {
      if (name === "") return said(scenarios.map((each) => `${each.name}: ${each.description}`).join("\n"));
      useScenario?.(name);
      return said(`Scenario ${name} from now on.`);
    },
  },
];

async function useMode(place: CommandPlace, editingMode: EditingMode, prompt: string): Promise<CommandResult> {
  if (!(await place.changeSettings({ editingMode }))) return said("");
  if (prompt !== "") return { type: "prompt", text: prompt, scenario: "" };
  return said(editingMode === "branch" ? "Branch Mode from now on." : "Proposal Mode from now on.");
}
