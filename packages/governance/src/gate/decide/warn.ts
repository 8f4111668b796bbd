import { errorMessage } from "@gennai/protocol/error-message";
import type { GateOptions } from "../gate-options.ts";

/** Reports an unexpected error. Its text may quote anything, so it is masked. */
export async function warn(
  what: string,
  error: unknown,
  turnId: string,
  { journal, redactor }: Pick<GateOptions, "journal" | "redactor">,
): Promise<void> {
  journal.warn(await redactor.redact(`${what}: ${errorMessage(error)}`), turnId);
}
