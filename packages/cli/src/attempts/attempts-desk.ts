import { defaultStateDir, prepareStateDirectory } from "@gennai/machine/config/state-directory";
import type { SettingsChoice } from "@gennai/protocol/model/session/session-settings";
import { type ChosenServer, turnServer } from "../connection/server-choice.ts";
import type { OfferContext } from "../review/offered-changes.ts";
import { isTerminal } from "../terminal/console.ts";
import type { Interrupts } from "../terminal/interrupts.ts";
import type { AttemptsDesk } from "./follow-attempt.ts";
import { SharedPerson } from "./shared-person.ts";

/** The person at this terminal, and where attempts print. */
export async function attemptsDesk(
  flags: { readonly yes?: boolean; readonly ask?: boolean; readonly json?: boolean },
  {
    workspace,
    place,
  }: { readonly workspace: string; readonly place: OfferContext & { readonly interrupts: Interrupts } },
): Promise<AttemptsDesk> {
  const { console, interrupts } = place;
  const { input, output, errors, environment } = console;
  return {
    console,
    interrupts,
    workspace,
    stateDir: await prepareStateDirectory(defaultStateDir(environment)),
    yes: flags.yes === true,
    person: new SharedPerson(flags.json === true ? errors : output, () => place.lines()),
    hasPerson: flags.ask === true || (isTerminal(input) && isTerminal(errors)),
    allow: [],
  };
}

/** A server of this command's own, in which commands are staged. */
export function attemptsServer(
  { console, workspace, stateDir }: AttemptsDesk,
  signal: AbortSignal,
  options: { readonly settings?: SettingsChoice; readonly protectedBranches?: readonly string[] } = {},
): Promise<ChosenServer> {
  const { settings: model = {}, protectedBranches: protect = [] } = options;
  return turnServer({ server: "own", protect }, { workspace, stateDir, signal, model, commands: "staged" }, console);
}
