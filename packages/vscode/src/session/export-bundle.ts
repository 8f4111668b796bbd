import type { CallOptions, GovernanceClient } from "@gennai/client/connection/connection";
import type { AgentSession } from "@gennai/client/session/agent-session";
import { eventJson } from "@gennai/client/session/text/event-json";

const pageSize = 500;

/** A session as one JSON document for people elsewhere: its events and the ledger's records, redacted by the server. */
export async function sessionBundle(
  session: AgentSession,
  governance: GovernanceClient,
  options: { readonly version: string; readonly signal: AbortSignal },
): Promise<string> {
  const events: unknown[] = [];
  for await (const event of session.history(options)) events.push(eventJson(event));
  const ledger = await records(session.sessionId, governance, options);
  const facts = {
    format: "gennai-session-bundle/1",
    exported: new Date().toISOString(),
    by: `gennai-vscode ${options.version}`,
    sessionId: session.sessionId,
    workspace: session.workingDir,
  };
  return `${JSON.stringify({ ...facts, events, ledger }, undefined, 2)}\n`;
}

async function records(
  sessionId: string,
  governance: GovernanceClient,
  { signal }: CallOptions,
): Promise<readonly string[]> {
  const lines: string[] = [];
  let afterSeq = 0n;
  for (;;) {
    const page = await governance.listLedgerRecords({ sessionId, afterSeq, limit: pageSize }, { signal });
    lines.push(...page.records.map(({ json }) => json));
    afterSeq = page.records.at(-1)?.seq ?? afterSeq;
    if (page.records.length < pageSize) return lines;
  }
}
