import { type Named, type OfferingPlace, type SlashCommand, said } from "./command.ts";
import { governanceCommands } from "./governance-commands.ts";
import { modeCommands } from "./mode-commands.ts";
import { sessionCommands } from "./session-commands.ts";

/** The commands of every session: completion, `/help` and the documentation use this list. */
export const builtInCommands: readonly SlashCommand[] = [
  ...modeCommands,
  ...sessionCommands,
  ...governanceCommands,
  {
    name: "help",
    argument: "",
    description: "Lists these commands, and the scenarios and skills that are commands too",
    run: (place) => said(slashCommands(place).map(commandLine).join("\n")),
  },
];

/** What can be typed in a place: the built-in commands, then its scenarios and skills; a name that is taken is left out. */
export function slashCommands(place: OfferingPlace): readonly SlashCommand[] {
  const offered = builtInCommands.filter(({ isOffered }) => isOffered?.(place) ?? true);
  const commands = new Map(offered.map((command) => [command.name, command]));
  for (const command of [...place.scenarios.map(scenarioCommand), ...place.skills.map(skillCommand)]) {
    if (isName.test(command.name) && !commands.has(command.name)) commands.set(command.name, command);
  }
  return [...commands.values()];
}

/** A prompt's first words as a command; undefined: it begins with none, but e.g. with a path. */
export function typedCommand(prompt: string): { readonly name: string; readonly text: string } | undefined {
  const [, name, text = ""] = /^\/([a-z][\w.-]*)(?:\s+([\s\S]*))?$/i.exec(prompt.trim()) ?? [];
  return name === undefined ? undefined : { name: name.toLowerCase(), text: text.trim() };
}

/** What `!COMMAND` has the user run, behind the same gate as the model's commands; undefined: the prompt is another one. */
export function usersCommand(prompt: string): string | undefined {
  return /^!\s*(\S[\s\S]*)$/.exec(prompt.trim())?.[1];
}

/** e.g. `/plan [GOAL]`. */
export function commandUsage({ name, argument }: Pick<SlashCommand, "name" | "argument">): string {
  return argument === "" ? `/${name}` : `/${name} ${argument}`;
}

function commandLine(command: SlashCommand): string {
  return `${commandUsage(command)}: ${command.description}`;
}

const isName = /^[a-z][\w.-]*$/i;

function scenarioCommand({ name, description }: Named): SlashCommand {
  const typed = name.toLowerCase();
  return {
    name: typed,
    argument: "PROMPT",
    description: `Scenario: ${description}`,
    run: (_place, text) =>
      text === "" ? said(`Write a prompt after it: /${typed} PROMPT`) : { type: "prompt", text, scenario: name },
  };
}

function skillCommand({ name, description }: Named): SlashCommand {
  const words = `Read the skill ${name} with the Skill tool first, and do as it says.`;
  return {
    name,
    argument: "[PROMPT]",
    description: `Skill: ${description}`,
    run: (_place, text) => ({ type: "prompt", text: text === "" ? words : `${words}\n\n${text}`, scenario: "" }),
  };
}
