import type { GovernanceClient } from "@gennai/client/connection/connection";
import type { AgentSession } from "@gennai/client/session/agent-session";
import { subscribe } from "@gennai/client/session/subscription";
import { eventJson } from "@gennai/client/session/text/event-json";

/** Milliseconds without an event after which the replay counts as complete. */
const quiet = 1500;
const pageSize = 500;

/** A session as one JSON document for people elsewhere: its events and the ledger's records, redacted by the server. */
export async function sessionBundle(
  session: AgentSession,
  governance: GovernanceClient,
  options: { readonly clientId: string; readonly version: string; readonly signal: AbortSignal },
): Promise<string> {
  const [events, ledger] = [await replay(session, options), await records(session.sessionId, governance, options)];
  const facts = {
    format: "gennai-session-bundle/1",
    exported: new Date().toISOString(),
    by: `gennai-vscode ${options.version}`,
    sessionId: session.sessionId,
    workspace: session.workingDir,
  };
  return `${JSON.stringify({ ...facts, events, ledger }, undefined, 2)}\n`;
}

async function replay(
  session: AgentSession,
  { clientId, version, signal }: { readonly clientId: string; readonly version: string; readonly signal: AbortSignal },
): Promise<readonly unknown[]> {
  const events: unknown[] = [];
  const done = new AbortController();
  let timer = setTimeout(() => done.abort(), quiet);
  const identity = { clientId: `${clientId}-export`, name: "gennai-vscode", version };
  const options = { sessionId: session.sessionId, afterSeq: 0n, identity };
  const last = session.lastSeq;
  try {
    for await (const event of subscribe(session.client, {
      ...options,
      signal: AbortSignal.any([signal, done.signal]),
    })) {
      clearTimeout(timer);
      timer = setTimeout(() => done.abort(), quiet);
      events.push(eventJson(event));
      if (event.seq >= last && last > 0n) break;
    }
  } catch (error) {
    signal.throwIfAborted();
    if (!done.signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
    done.abort();
  }
  return events;
}

async function records(
  sessionId: string,
  governance: GovernanceClient,
  { signal }: { readonly signal: AbortSignal },
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
