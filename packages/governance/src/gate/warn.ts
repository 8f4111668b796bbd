import type { GateOptions } from "./gate-options.ts";

/** Reports an error that nobody expected. Its text may quote anything, so it is masked. */
export async function warn(
  what: string,
  error: unknown,
  turnId: string,
  { journal, redactor }: Pick<GateOptions, "journal" | "redactor">,
): Promise<void> {
  const problem = error instanceof Error ? error.message : String(error);
  journal.warn(await redactor.redact(`${what}: ${problem}`), turnId);
}
