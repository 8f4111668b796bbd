import { errorMessage } from "@gennai/protocol/error-message";
import type { GateJournal } from "../../gate-journal.ts";
import type { Redactor } from "../../redaction.ts";

/** Reports an unexpected error. Its text may quote anything, so it is masked. */
export async function warn(
  what: string,
  error: unknown,
  turnId: string,
  { journal, redactor }: { readonly journal: Pick<GateJournal, "warn">; readonly redactor: Redactor },
): Promise<void> {
  journal.warn(await redactor.redact(`${what}: ${errorMessage(error)}`), turnId);
}
