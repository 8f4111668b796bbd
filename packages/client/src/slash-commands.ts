import type { EditingMode, SettingsChoice } from "@gennai/protocol/model/session/session-settings";
import { mostAttempts } from "./attempts.ts";
import type { GovernanceClient } from "./connection/connection.ts";
import { setEmergencyControl } from "./governance/emergency.ts";
import { listIntents, type SessionIntents, selectIntent } from "./governance/intents.ts";
import type { AgentSession } from "./session/agent-session.ts";
import { todoLines } from "./todo-lines.ts";

/** What a client shows and does besides text. It is offered no command that needs another. */
export type ClientAbility = "attempts" | "continue" | "models" | "plan" | "scenario";

/** What becomes of a command: a client says, sends, goes on or shows. Texts are not made safe for a terminal. */
export type CommandResult =
  /** Told to the person; empty: the effect is visible anyway. */
  | { readonly type: "said"; readonly text: string }
  /** Goes to the model in place of what was typed. */
  | { readonly type: "prompt"; readonly text: string; readonly scenario: string }
  /** The turn that was cut off is gone on with. */
  | { readonly type: "continue"; readonly turnId: string }
  /** A goal to plan; empty: plans are shown, or what comes is planned. */
  | { readonly type: "plan"; readonly goal: string }
  /** A prompt to try so many times; empty: attempts are shown. */
  | { readonly type: "attempts"; readonly prompt: string; readonly count: number }
  /** The choice of models is opened. */
  | { readonly type: "models" }
  /** The scenario of the turns that come. */
  | { readonly type: "scenario"; readonly name: string };

type Session = Pick<AgentSession, "sessionId" | "client" | "settings">;

/** What commands work on. */
export interface CommandPlace {
  /** Undefined: none was begun yet. */
  readonly session: Session | undefined;
  readonly governance: GovernanceClient;
  /** In whose name something is switched. */
  readonly userName: string;
  readonly abilities: ReadonlySet<ClientAbility>;
  /** The mode in force, as people are told it, e.g. `Branch`. */
  readonly mode: string;
  readonly scenarios: readonly Named[];
  readonly skills: readonly Named[];
  readonly signal: AbortSignal;
  /** The turn that its server's end cut off. */
  cutOffTurn(): Promise<{ readonly turnId: string } | undefined>;
  /** Takes back the newest change set; what to say of it, empty if that is visible anyway. */
  undo(): Promise<string>;
  /** False if it was refused, which the client has said. */
  changeSettings(choice: SettingsChoice): Promise<boolean>;
}

interface Named {
  readonly name: string;
  readonly description: string;
}

/** Something that a prompt beginning with `/NAME` does instead of being sent. */
export interface SlashCommand {
  readonly name: string;
  /** Argument after the name, e.g. `GOAL`; empty: none. */
  readonly argument: string;
  /** One line. */
  readonly description: string;
  readonly needs?: ClientAbility;
  /** @param text what was typed after the name, trimmed */
  run(place: CommandPlace, text: string): Promise<CommandResult> | CommandResult;
}

/** The commands of every session: completion, `/help` and the documentation use this list. */
export const builtInCommands: readonly SlashCommand[] = [
  {
    name: "plan",
    argument: "[GOAL]",
    description: "Writes a plan for a goal, to be approved before anything runs; alone: shows the plans",
    needs: "plan",
    run: (_place, goal) => ({ type: "plan", goal }),
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
      if (name === "plan" && place.abilities.has("plan")) return { type: "plan", goal: "" };
      if (name === "branch" || name === "proposal") return useMode(place, name, "");
      return said(name === "" ? `${place.mode} Mode.` : "There are three modes: branch, proposal and plan.");
    },
  },
  {
    name: "attempts",
    argument: "[N] [PROMPT]",
    description: "Tries a prompt N times side by side, each on a copy (3 times without N); alone: shows the attempts",
    needs: "attempts",
    run: (_place, text) => {
      const [, number = "3", prompt = ""] = /^(?:(\d+)(?:\s+|$))?([\s\S]*)$/.exec(text) ?? [];
      if (prompt === "" && text !== "") return said(`Say what to try: /attempts ${number} PROMPT`);
      const count = Number(number);
      if (count < 2 || count > mostAttempts) return said(`A prompt is tried 2 to ${mostAttempts} times.`);
      return { type: "attempts", prompt, count };
    },
  },
  {
    name: "again",
    argument: "",
    description: "Goes on with a turn that was cut off when its server went away; what it asked is asked again",
    needs: "continue",
    run: async (place) => {
      const turn = await place.cutOffTurn();
      return turn === undefined
        ? said("No turn was cut off here. Say what shall be done.")
        : { type: "continue", turnId: turn.turnId };
    },
  },
  {
    name: "undo",
    argument: "",
    description: "Takes back the last change set, if its files are still as it left them",
    run: async (place) => said(await place.undo()),
  },
  {
    name: "todos",
    argument: "",
    description: "Shows the agent's list of what is to do",
    run: async ({ session, signal }) => {
      if (session === undefined) return said("No todos.");
      const { items } = await session.client.getTodos({ sessionId: session.sessionId }, { signal });
      return said(items.length === 0 ? "No todos." : todoLines(items).join("\n"));
    },
  },
  {
    name: "model",
    argument: "[NAME]",
    description: "Uses another model of the same provider; alone: shows the choice, or which is in use",
    run: async (place, model) => {
      if (model !== "")
        return said((await place.changeSettings({ model })) ? `The model is ${model} from now on.` : "");
      if (place.abilities.has("models")) return { type: "models" };
      return said(`The model is ${place.session?.settings.model || "not chosen"}; /model NAME uses another one.`);
    },
  },
  {
    name: "scenario",
    argument: "[NAME]",
    description: "Uses a scenario for the turns that come; alone: lists them",
    needs: "scenario",
    run: ({ scenarios }, name) => {
      if (name === "") return said(scenarios.map((each) => `${each.name}: ${each.description}`).join("\n"));
      return { type: "scenario", name };
    },
  },
  {
    name: "compact",
    argument: "",
    description: "Makes the conversation shorter for the model; you keep all of it",
    run: async ({ session, signal }) => {
      const done = await session?.client.compactSession({ sessionId: session.sessionId }, { signal });
      if (done?.compacted !== true) return said("There is nothing to shorten yet.");
      return said(
        `About ${done.tokensBefore} tokens before, ${done.tokensAfter} now; the last ${done.keptMessages} messages stay as they are.`,
      );
    },
  },
  {
    name: "intent",
    argument: "[ID]",
    description: "Puts the session under an intent; alone: lists them, with a mark at the one it is under",
    run: async ({ session, governance, signal }, id) => {
      if (session === undefined) return said("A session that begins comes first: say what shall be done.");
      if (id === "") return said(intentLines(await listIntents(governance, session.sessionId, { signal })));
      const { id: chosen, name } = await selectIntent(governance, session.sessionId, id, { signal });
      return said(`Intent ${chosen} ${name}`.trim());
    },
  },
  {
    name: "read-only",
    argument: "on | off REASON",
    description: "Emergency control of the server: nothing may change anything, in any session, until it is lifted",
    run: async ({ governance, userName, signal }, text) => {
      const [, word = "", reason = ""] = /^(on|off)?\s*([\s\S]*)$/.exec(text) ?? [];
      if (word === "" || (word === "off" && reason === ""))
        return said("Say `/read-only on`, or `/read-only off REASON`.");
      const enabled = word === "on";
      const request = { control: "read-only", enabled, tool: "", by: userName, reason } as const;
      await setEmergencyControl(governance, request, { signal });
      return said(enabled ? "Read-only from now on, for all sessions." : "Read-only is lifted.");
    },
  },
  {
    name: "help",
    argument: "",
    description: "Lists these commands, and the scenarios and skills that are commands too",
    run: (place) => said(slashCommands(place).map(commandLine).join("\n")),
  },
];

/** What can be typed in a place: the built-in commands, then its scenarios and skills; a name that is taken is left out. */
export function slashCommands({
  abilities,
  scenarios,
  skills,
}: Pick<CommandPlace, "abilities" | "scenarios" | "skills">): readonly SlashCommand[] {
  const offered = builtInCommands.filter(({ needs }) => needs === undefined || abilities.has(needs));
  const commands = new Map(offered.map((command) => [command.name, command]));
  for (const command of [...scenarios.map(scenarioCommand), ...skills.map(skillCommand)]) {
    if (isName.test(command.name) && !commands.has(command.name)) commands.set(command.name, command);
  }
  return [...commands.values()];
}

/** A prompt's first words as a command; undefined: it begins with none, but e.g. with a path. */
export function typedCommand(prompt: string): { readonly name: string; readonly text: string } | undefined {
  const [, name, text = ""] = /^\/([a-z][\w.-]*)(?:\s+([\s\S]*))?$/i.exec(prompt.trim()) ?? [];
  return name === undefined ? undefined : { name: name.toLowerCase(), text: text.trim() };
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
      text === "" ? said(`Say what shall be done: /${typed} PROMPT`) : { type: "prompt", text, scenario: name },
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

async function useMode(place: CommandPlace, editingMode: EditingMode, prompt: string): Promise<CommandResult> {
  if (!(await place.changeSettings({ editingMode }))) return said("");
  if (prompt !== "") return { type: "prompt", text: prompt, scenario: "" };
  return said(editingMode === "branch" ? "Branch Mode from now on." : "Proposal Mode from now on.");
}

function intentLines({ intents, warnings, active }: SessionIntents): string {
  if (intents.length === 0)
    return ["No intents here: `.orchestration/active_intents.yaml` holds none.", ...warnings].join("\n");
  const lines = intents.map(({ id, name, status, selectable }) => {
    const mark = id === active?.id ? "▸" : "-";
    return `${mark} ${id} ${name} (${status || "no status"}${selectable ? "" : ", not selectable"})`;
  });
  return [...lines, ...warnings].join("\n");
}

function said(text: string): CommandResult {
  return { type: "said", text };
}
