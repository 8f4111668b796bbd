import { mostAttempts } from "@gennai/client/attempts/attempts";
import type { ReplControl } from "../control/repl-control.ts";

/** What a prompt that begins with `/NAME` does instead of being sent. */
export interface SlashCommand {
  readonly name: string;
  /** Argument after the name, e.g. `GOAL`; empty: none. */
  readonly argument: string;
  /** One line. */
  readonly description: string;
  /**
   * @param text text after the name
   * @returns a message for the user, if the result is not visible anyway
   */
  readonly run: (control: ReplControl, text: string) => Promise<string | undefined> | string | undefined;
}

/** The commands that every session has; completion, `/help` and the documentation use this list. */
export const slashCommands: readonly SlashCommand[] = [
  {
    name: "plan",
    argument: "[GOAL]",
    description: "Writes a plan for a goal, to be approved before anything runs; alone: shows the plans",
    run: async (control, goal) => {
      if (goal !== "") await control.begun();
      control.panel.value = "plan";
      // The panel shows errors of the writing.
      if (goal !== "") void control.stores.value.plan?.plan(goal);
      return undefined;
    },
  },
  {
    name: "proposal",
    argument: "[PROMPT]",
    description: "Proposal Mode from now on: nothing is written before you have reviewed it",
    run: (control, prompt) => useMode(control, "proposal", prompt),
  },
  {
    name: "branch",
    argument: "[PROMPT]",
    description: "Branch Mode from now on: changes go to a branch of the agent",
    run: (control, prompt) => useMode(control, "branch", prompt),
  },
  {
    name: "attempts",
    argument: "[N] [PROMPT]",
    description: "Tries a prompt N times side by side, each on a copy (3 times without N); alone: shows the attempts",
    run: (control, said) => {
      const [, number = "3", prompt = ""] = /^(?:(\d+)(?:\s+|$))?([\s\S]*)$/.exec(said) ?? [];
      if (prompt === "") {
        control.panel.value = "attempts";
        return said === "" ? undefined : `Say what to try: /attempts ${number} PROMPT`;
      }
      const count = Number(number);
      if (count < 2 || count > mostAttempts) throw new Error(`A prompt is tried 2 to ${mostAttempts} times.`);
      void control.attempts.tryPrompt(prompt, count);
      return undefined;
    },
  },
  {
    name: "undo",
    argument: "",
    description: "Takes back the last change set, if its files are still as it left them",
    run: async (control) => {
      const cells = control.followed.value?.view.value.cells ?? [];
      const sets = cells.map(({ item }) => item.value).filter((item) => item.kind === "change-set");
      const last = sets.findLast(({ undone }) => !undone);
      if (last === undefined) return "This session has no change set to take back.";
      await control.undoChangeSet(last.changeSetId);
      return undefined;
    },
  },
  {
    name: "model",
    argument: "[NAME]",
    description: "Uses another model of the same provider; alone: opens the choice",
    run: async (control, name) => {
      if (name !== "") {
        return (await control.changeSettings({ model: name })) ? `The model is ${name} from now on.` : undefined;
      }
      control.models.open();
      return undefined;
    },
  },
  {
    name: "compact",
    argument: "",
    description: "Makes the conversation shorter for the model; you keep all of it",
    run: async (control) => {
      const session = control.followed.value?.session;
      if (session === undefined) return "There is nothing to shorten yet.";
      const { sessionId } = session;
      const done = await control.agent.compactSession({ sessionId }, { signal: control.signal });
      if (!done.compacted) return "There is nothing to shorten yet.";
      return `About ${done.tokensBefore} tokens before, ${done.tokensAfter} now; the last ${done.keptMessages} messages stay as they are.`;
    },
  },
  {
    name: "help",
    argument: "",
    description: "Lists these commands, and the scenarios and skills that are commands too",
    run: (control) =>
      allSlashCommands(control)
        .map(({ name, argument, description }) => `/${name}${argument === "" ? "" : ` ${argument}`}: ${description}`)
        .join("\n"),
  },
];

/** All commands: the built-in ones, then the session's scenarios and skills, without repeated names. */
export function allSlashCommands(control: ReplControl): readonly SlashCommand[] {
  const { scenarios, skills } = control.directory;
  const commands = new Map(slashCommands.map((command) => [command.name, command]));
  const add = (command: SlashCommand) => {
    if (isName(command.name) && !commands.has(command.name)) commands.set(command.name, command);
  };
  for (const { name, description } of scenarios.value) {
    add({
      name: name.toLowerCase(),
      argument: "PROMPT",
      description: `Scenario: ${description}`,
      run: (_control, prompt) => {
        if (prompt === "") return `Say what shall be done: /${name.toLowerCase()} PROMPT`;
        control.turns.sendDraft(prompt, name);
        return undefined;
      },
    });
  }
  for (const { name, description } of skills.value) {
    add({
      name,
      argument: "[PROMPT]",
      description: `Skill: ${description}`,
      run: (_control, prompt) => {
        const words = `Read the skill ${name} with the Skill tool first, and do as it says.`;
        control.turns.sendDraft(prompt === "" ? words : `${words}\n\n${prompt}`);
        return undefined;
      },
    });
  }
  return [...commands.values()];
}

async function useMode(
  control: ReplControl,
  editingMode: "branch" | "proposal",
  prompt: string,
): Promise<string | undefined> {
  if (!(await control.changeSettings({ editingMode }))) return undefined;
  if (prompt === "") return editingMode === "branch" ? "Branch Mode from now on." : "Proposal Mode from now on.";
  control.turns.sendDraft(prompt);
  return undefined;
}

function isName(name: string): boolean {
  return /^[a-z][\w.-]*$/i.test(name);
}
