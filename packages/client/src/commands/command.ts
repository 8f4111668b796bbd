import type { SettingsChoice } from "@gennai/protocol/model/session/session-settings";
import type { GovernanceClient } from "../connection/connection.ts";
import type { AgentSession } from "../session/agent-session.ts";

/** What a client can show besides text. */
export type CommandView =
  | "attempts"
  | "background"
  | "checkpoints"
  | "history"
  | "intents"
  | "models"
  | "plan"
  | "review"
  | "rules"
  | "sessions";

/** What becomes of a command: a client says, sends, goes on or shows. Texts are not made safe for a terminal. */
export type CommandResult =
  /** Told to the person; empty: the effect is visible anyway. */
  | { readonly type: "said"; readonly text: string }
  /** Goes to the model in place of what was typed. */
  | { readonly type: "prompt"; readonly text: string; readonly scenario: string }
  /** The turn that was cut off is gone on with. */
  | { readonly type: "continue"; readonly turnId: string }
  /**
   * A view is shown that the client has. @param text what is begun there: the goal of a plan, a prompt to try; empty: nothing
   * @param count how often a prompt is tried
   */
  | { readonly type: "show"; readonly view: CommandView; readonly text: string; readonly count: number };

type Session = Pick<AgentSession, "sessionId" | "workingDir" | "client" | "settings">;

/** What commands work on. */
export interface CommandPlace {
  /** Undefined: none was begun yet. */
  readonly session: Session | undefined;
  readonly governance: GovernanceClient;
  /** In whose name something is switched. */
  readonly userName: string;
  readonly views: ReadonlySet<CommandView>;
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
  /** Chooses the scenario of the turns that come; absent: a client's modes do that. */
  useScenario?(name: string): void;
  /** Goes on in another session, a new one for undefined; absent: a client stays in its own. */
  openSession?(sessionId: string | undefined): Promise<void> | void;
  /** Leaves; absent: there is nothing to leave. */
  quit?(): void;
}

export interface Named {
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
  /** Absent: every client has what it needs. */
  isOffered?(place: OfferingPlace): boolean;
  /** @param text what was typed after the name, trimmed */
  run(place: CommandPlace, text: string): Promise<CommandResult> | CommandResult;
}

/** What decides which commands there are. */
export type OfferingPlace = Pick<
  CommandPlace,
  "views" | "scenarios" | "skills" | "useScenario" | "openSession" | "quit"
>;

export function said(text: string): CommandResult {
  return { type: "said", text };
}

/** The view where a client has it, else words. */
export function shown(view: CommandView, { text = "", count = 0 } = {}): CommandResult {
  return { type: "show", view, text, count };
}

export const noSession = said("No session is open yet: write a prompt first.");
