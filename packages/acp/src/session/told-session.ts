import { type ClientCapabilities, methods, type SessionUpdate } from "@agentclientprotocol/sdk";
import type { AgentClient, GovernanceClient, PlanClient } from "@gennai/client/connection/connection";
import type { AgentSession, CutOffTurn } from "@gennai/client/session/agent-session";
import { utf8Text } from "@gennai/protocol/diff/utf8-text";
import type { EditorPeer } from "../editor/acp-editor.ts";
import type { EditorMcpServers, WaitingMcpServer } from "../editor/editor-mcp-servers.ts";
import { TurnUpdates } from "./turn-updates.ts";

/** Where a session is, and who drives it. */
export interface SessionContext {
  readonly server: AgentClient;
  readonly governance: GovernanceClient;
  readonly plans: PlanClient;
  /** Absolute, real. */
  readonly workingDir: string;
  readonly mcp: EditorMcpServers;
  /** MCP servers of the editor that a person has not accepted yet. */
  readonly waiting: readonly WaitingMcpServer[];
  readonly userName: string;
  readonly editor: EditorPeer;
  readonly capabilities: ClientCapabilities;
  /** As the editor calls itself. */
  readonly name: string;
  readonly version: string;
  readonly signal: AbortSignal;
}

/** Bytes of a file whose text is shown in a diff. */
const maxShownText = 1024 * 1024;
export const wayOn = "\n\n`/again` goes on with the turn that was cut off; anything else begins a new one.";

/** What an editor shows of a session. */
export class ToldSession {
  readonly session: AgentSession;
  readonly place: SessionContext;

  constructor(session: AgentSession, place: SessionContext) {
    this.session = session;
    this.place = place;
  }

  say(text: string): Promise<void> {
    return this.tell([{ sessionUpdate: "agent_message_chunk", content: { type: "text", text } }]);
  }

  async tell(updates: readonly SessionUpdate[]): Promise<void> {
    const { sessionId } = this.session;
    for (const update of updates) await this.place.editor.notify(methods.client.session.update, { sessionId, update });
  }

  /** Tells all that happened so far, as it was told when it happened. */
  async replay(): Promise<void> {
    const updates = this.updates({ withPrompts: true });
    for await (const event of this.session.history(this.place)) await this.tell(await updates.of(event));
    if ((await this.cutOffTurn()) !== undefined) await this.say(wayOn);
  }

  updates({ withPrompts }: { readonly withPrompts: boolean }): TurnUpdates {
    const { session } = this;
    const { signal } = this.place;
    return new TurnUpdates({
      workingDir: session.workingDir,
      withPrompts,
      textOf: async (sha256) => {
        const bytes = await session.blob(sha256, { signal }).catch(() => undefined);
        return bytes === undefined || bytes.length > maxShownText ? undefined : utf8Text(bytes);
      },
    });
  }

  async cutOffTurn(): Promise<CutOffTurn | undefined> {
    const { client, sessionId } = this.session;
    return (await client.resumeSession({ sessionId }, this.place)).cutOffTurn;
  }
}
