import { ConnectError } from "@connectrpc/connect";
import type { GovernanceClient } from "@gennai/client/connection/connection";
import { type IntentSummary, listIntents, selectIntent } from "@gennai/client/governance/intents";
import { CliError } from "../terminal/cli-error.ts";
import { exitCode } from "../terminal/exit-code.ts";
import { terminalSafe } from "../terminal/terminal-safe.ts";

interface IntentRequest {
  readonly governance: GovernanceClient;
  readonly sessionId: string;
  readonly signal: AbortSignal;
}

/** Puts the session under an intent. Throws `CliError` with the ids that can be selected. */
async function chooseIntent(id: string, { governance, sessionId, signal }: IntentRequest): Promise<IntentSummary> {
  try {
    return await selectIntent(governance, sessionId, id, { signal });
  } catch (cause) {
    if (!(cause instanceof ConnectError)) throw cause;
    const { intents, warnings } = await listIntents(governance, sessionId, { signal });
    const known = intents.find((intent) => intent.id === id);
    // The server refused for another reason than the choice.
    if (known?.selectable === true) throw cause;
    const selectable = intents.filter((intent) => intent.selectable);
    throw new CliError(
      known === undefined
        ? `There is no intent ${JSON.stringify(id)}.`
        : `The intent ${id} cannot be selected: its status is ${known.status === "" ? "not set" : known.status}.`,
      {
        exitCode: exitCode.usage,
        next: [
          selectable.length === 0
            ? "No intent can be selected now; gennai intents list says why."
            : `These can be selected: ${selectable.map(intentTitle).join("; ")}`,
          ...warnings,
        ],
        cause,
      },
    );
  }
}

/** The intent that a request names, else the one under which a session that goes on works. Throws like `chooseIntent`. */
export async function intentOf(
  named: string | undefined,
  isNew: boolean,
  place: IntentRequest,
): Promise<IntentSummary | undefined> {
  if (named !== undefined) return chooseIntent(named, place);
  return isNew ? undefined : activeIntent(place);
}

/** The intent the session works under. */
export async function activeIntent({
  governance,
  sessionId,
  signal,
}: IntentRequest): Promise<IntentSummary | undefined> {
  return (await listIntents(governance, sessionId, { signal })).active;
}

/** `ID: name`, as it is shown in a line. */
export function intentTitle({ id, name }: IntentSummary): string {
  return terminalSafe(name === "" ? id : `${id}: ${name}`).replaceAll("\n", " ");
}
