import type { AvailableCommand } from "@agentclientprotocol/sdk";
import type { GovernanceClient } from "@gennai/client/connection/connection";
import { setEmergencyControl } from "@gennai/client/governance/emergency";
import { listIntents, selectIntent } from "@gennai/client/governance/intents";
import type { AgentSession, CutOffTurn } from "@gennai/client/session/agent-session";
import { spelledOut } from "@gennai/protocol/hidden-characters";

/** What a command may use. */
export interface SlashCommandContext {
  readonly session: Pick<AgentSession, "sessionId" | "client" | "undo">;
  /** The session's last turn, if its server went away while that ran. */
  readonly cutOffTurn: () => Promise<CutOffTurn | undefined>;
  readonly governance: GovernanceClient;
  /** In whose name something is switched. */
  readonly userName: string;
  readonly signal: AbortSignal;
}

/** What is said to the person, what goes to the model in place of what was typed, or the turn that is gone on with. */
export type CommandResult =
  | { readonly type: "said"; readonly text: string }
  | { readonly type: "prompt"; readonly text: string; readonly scenario: string }
  | { readonly type: "continue"; readonly turnId: string };

/** Something that a prompt beginning with `/NAME` does. */
export interface SlashCommand {
  readonly name: string;
  /** Argument after the name; empty: none. */
  readonly argument: string;
  readonly description: string;
  readonly run: (place: SlashCommandContext, text: string) => Promise<CommandResult> | CommandResult;
}

const builtIn: readonly SlashCommand[] = [
  {
    name: "again",
    argument: "",
    description: "Goes on with a turn that was cut off when its server went away; what it asked is asked again",
    run: async ({ cutOffTurn }) => {
      const turn = await cutOffTurn();
      return turn === undefined
        ? said("No turn was cut off here. Say what shall be done.")
        : { type: "continue", turnId: turn.turnId };
    },
  },
  {
    name: "undo",
    argument: "",
    description: "Takes back the last change set, if its files are still as it left them",
    run: async ({ session, signal }) => {
      const { files } = await session.undo({ signal });
      return said(`Taken back: ${files.map(({ path }) => path).join(", ") || "nothing"}.`);
    },
  },
  {
    name: "compact",
    argument: "",
    description: "Makes the conversation shorter for the model; you keep all of it",
    run: async ({ session: { client, sessionId }, signal }) => {
      const done = await client.compactSession({ sessionId }, { signal });
      return said(
        done.compacted
          ? `About ${done.tokensBefore} tokens before, ${done.tokensAfter} now; the last ${done.keptMessages} messages stay as they are.`
          : "There is nothing to shorten yet.",
      );
    },
  },
  {
    name: "intent",
    argument: "ID",
    description: "Puts the session under an intent; alone: lists them",
    run: async ({ session: { sessionId }, governance, signal }, id) => {
      if (id !== "") {
        const { id: chosen, name } = await selectIntent(governance, sessionId, id, { signal });
        return said(`Intent ${chosen} ${name}`.trim());
      }
      const { intents, active } = await listIntents(governance, sessionId, { signal });
      const lines = intents.map((intent) => {
        const state =
          intent.id === active?.id ? "active" : intent.selectable ? intent.status : `${intent.status}, not selectable`;
        return `- ${intent.id} ${intent.name} (${state})`;
      });
      return said(lines.length === 0 ? "No intents here. `gennai intents init` makes a first one." : lines.join("\n"));
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
];

/** Those, and the scenarios and skills of the session: one that has the name of an earlier one is left out. */
export async function slashCommands({
  session,
  signal,
}: SlashCommandContext): Promise<ReadonlyMap<string, SlashCommand>> {
  const { scenarios, skills } = await session.client.listScenarios({ sessionId: session.sessionId }, { signal });
  return new Map(
    [
      ...skills.map(skillCommand),
      ...scenarios.map(scenarioCommand),
      // The last of a name stays.
      ...builtIn,
    ]
      .filter(({ name }) => /^[a-z][\w.-]*$/i.test(name))
      .map((command) => [command.name, command]),
  );
}

export function availableCommands(commands: ReadonlyMap<string, SlashCommand>): AvailableCommand[] {
  return [...commands.values()].map(({ name, argument, description }) => ({
    name,
    description: spelledOut(description),
    input: argument === "" ? null : { hint: argument },
  }));
}

/** A prompt's first words as a command; undefined: it begins with none. */
export function typedCommand(prompt: string): { readonly name: string; readonly text: string } | undefined {
  const [, name, text = ""] = /^\/([a-z][\w.-]*)(?:\s+([\s\S]*))?$/i.exec(prompt.trim()) ?? [];
  return name === undefined ? undefined : { name, text: text.trim() };
}

function scenarioCommand({ name, description }: { readonly name: string; readonly description: string }): SlashCommand {
  const typed = name.toLowerCase();
  return {
    name: typed,
    argument: "PROMPT",
    description: `Scenario: ${description}`,
    run: (_place, text) =>
      text === "" ? said(`Say what shall be done: /${typed} PROMPT`) : { type: "prompt", text, scenario: name },
  };
}

function skillCommand({ name, description }: { readonly name: string; readonly description: string }): SlashCommand {
  const words = `Read the skill ${name} with the Skill tool first, and do as it says.`;
  return {
    name,
    argument: "[PROMPT]",
    description: `Skill: ${description}`,
    run: (_place, text) => ({ type: "prompt", text: text === "" ? words : `${words}\n\n${text}`, scenario: "" }),
  };
}

function said(text: string): CommandResult {
  return { type: "said", text: spelledOut(text) };
}
