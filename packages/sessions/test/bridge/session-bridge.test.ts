import type { SessionEvent } from "@gennai/agent/events/session-event";
import { expect, test } from "vitest";
import { ClientRegistry } from "#bridge/client-registry";
import { PendingRequests } from "#bridge/pending-requests";
import { sessionBridge } from "#bridge/session-bridge";
import { gateQuestion } from "../../../governance/test/gate/gate-question.ts";

test.each<[string, number | undefined, number]>([
  ["asked at clients alone", undefined, 30_000],
  ["asked elsewhere as well", 90_000, 90_000],
])("how long a rule's question waits, %s", async (_what, patience, wanted) => {
  const clients = new ClientRegistry();
  clients.attach({ clientId: "editor", abilities: new Set(["confirmation"]) });
  const events: SessionEvent[] = [];
  const commit = async (more: readonly SessionEvent[]): Promise<void> => void events.push(...more);
  const redactor = {
    redact: async (text: string) => text,
    stream: () => ({ push: async (text: string) => text, end: async () => "" }),
  };
  const log = { epoch: 1, commit };
  const requests = new PendingRequests({ clients, log: () => log, waitForClientMs: 5_000, now: () => 0, redactor });
  const abort = new AbortController();
  const people = { waits: async () => patience, ask: () => ({ [Symbol.dispose]: () => abort.abort() }) };
  const bridge = sessionBridge({
    clients,
    requests,
    turnId: () => "t",
    settings: () => ({ interactive: true, questionSeconds: 0 }),
    elsewhere: { people, workspace: "w", tell: () => undefined },
  });
  const answer = bridge.ask({ ...gateQuestion(), answerMs: 30_000 }, { signal: abort.signal });
  await expect.poll(() => events).toMatchObject([{ type: "client-request", request: { deadline: wanted } }]);
  abort.abort();
  await expect(answer).rejects.toThrow();
});
