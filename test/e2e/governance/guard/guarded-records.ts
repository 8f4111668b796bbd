import type { GovernanceClient } from "@gennai/client/connection/connection";
import * as z from "zod";

/** A record of the ledger, as far as it is about calls of another agent. */
export const recordSchema = z.object({
  metadata: z.object({
    kind: z.string(),
    details: z.object({ agent: z.string().optional() }),
    calls: z.array(
      z.object({
        tool: z.string(),
        verdict: z.string(),
        verification: z.string().optional(),
        exit_code: z.number().optional(),
        failure_class: z.string().optional(),
        confirmation: z.looseObject({ answer: z.string() }).optional(),
      }),
    ),
    changes: z.array(z.object({ path: z.string(), operation: z.string() })),
  }),
});
type Recorded = z.infer<typeof recordSchema>["metadata"];

/** Of the ledger, oldest first, without switches of controls. */
export async function recordedBy(governance: GovernanceClient): Promise<readonly Recorded[]> {
  const { records } = await governance.listLedgerRecords({ limit: 100 });
  const all = records.map(({ json }) => recordSchema.parse(JSON.parse(json)).metadata);
  return all.filter(({ kind }) => kind !== "emergency");
}

/** The same in short, e.g. `codex, outcome, Patch allow verified, update src/a.ts`. */
export async function recordsInShort(governance: GovernanceClient): Promise<readonly string[]> {
  return (await recordedBy(governance)).map(({ kind, details, calls, changes }) =>
    [
      details.agent,
      kind,
      ...calls.map(({ tool, verdict, verification, exit_code }) =>
        [tool, verdict, verification, exit_code].filter((part) => part !== undefined).join(" "),
      ),
      ...changes.map(({ path, operation }) => `${operation} ${path}`),
    ].join(", "),
  );
}
