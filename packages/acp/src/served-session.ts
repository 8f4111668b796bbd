import {
  type ClientCapabilities,
  type ContentBlock,
  methods,
  RequestError,
  type SessionUpdate,
  type StopReason,
} from "@agentclientprotocol/sdk";
import { ConnectError } from "@connectrpc/connect";
import { callFailure } from "@gennai/client/connection/call-failure";
import type { AgentClient } from "@gennai/client/connection/connection";
import { AgentSession } from "@gennai/client/session/agent-session";
import { turnOutcome } from "@gennai/client/session/turn-state";
import { prepareBranch } from "@gennai/client/session/workspace-state";
import { spelledOut } from "@gennai/protocol/hidden-characters";
import { type Proposal, proposalFromMessage } from "@gennai/protocol/model/proposal";
import type { EditingMode, SettingsChoice } from "@gennai/protocol/model/session-settings";
import { acpEditor, type EditorPeer } from "./acp-editor.ts";
import { type PromptContent, promptContent } from "./prompt-content.ts";
import { proposalOptions, proposalReview } from "./proposal-permission.ts";
import { TurnUpdates } from "./turn-updates.ts";

/** Where a session is, and who drives it. */
export interface SessionPlace {
  readonly server: AgentClient;
  /** Absolute. */
  readonly workingDir: string;
  readonly editor: EditorPeer;
  readonly capabilities: ClientCapabilities;
  /** As the editor calls itself. */
  readonly name: string;
  readonly version: string;
  readonly signal: AbortSignal;
}

interface RunningTurn {
  turnId: string;
  cancelled: boolean;
}

/** Bytes of a file whose text is shown in a diff. */
const maxShownText = 1024 * 1024;
const cancelReason = "Stopped by the user in the editor.";

/** A session of the server, as an editor drives it. */
export class ServedSession {
  readonly #session: AgentSession;
  readonly #place: SessionPlace;
  #mode: EditingMode;
  #running: RunningTurn | undefined;

  private constructor(session: AgentSession, place: SessionPlace) {
    this.#session = session;
    this.#place = place;
    this.#mode = session.settings.editingMode;
  }

  static async start(settings: SettingsChoice, place: SessionPlace): Promise<ServedSession> {
    const { server, workingDir, signal } = place;
    const choice = { ...settings, workingDir };
    const known = { sessionId: "" };
    const identity = identityOf(place, () => known.sessionId);
    const session = await AgentSession.start(server, identity, choice, { interactive: true, signal });
    known.sessionId = session.sessionId;
    return new ServedSession(session, place);
  }

  static async resume(sessionId: string, place: SessionPlace): Promise<ServedSession> {
    const identity = identityOf(place, () => sessionId);
    const session = await AgentSession.resume(place.server, identity, sessionId, { signal: place.signal });
    if (session.workingDir !== place.workingDir) {
      throw RequestError.invalidParams(
        undefined,
        `Session ${sessionId} belongs to ${session.workingDir}. Open it there.`,
      );
    }
    return new ServedSession(session, place);
  }

  get sessionId(): string {
    return this.#session.sessionId;
  }

  get mode(): EditingMode {
    return this.#mode;
  }

  /** Tells all that happened so far, as it was told when it happened. */
  async replay(): Promise<void> {
    const { server, signal, name, version } = this.#place;
    const { sessionId, lastSeq } = this.#session;
    if (lastSeq === 0n) return;
    // Without an editor: what was asked then is not answered now.
    const watcher = { clientId: crypto.randomUUID(), name, version };
    const watching = await AgentSession.resume(server, watcher, sessionId, { signal });
    const updates = this.#updates({ withPrompts: true });
    for await (const event of watching.follow({ afterSeq: 0n, signal })) {
      await this.#tell(await updates.of(event));
      if (event.seq >= lastSeq) break;
    }
  }

  async setMode(mode: EditingMode): Promise<void> {
    const { signal } = this.#place;
    const { editingMode } = await this.#session.changeSettings({ editingMode: mode }, { signal });
    this.#mode = editingMode;
  }

  /** Runs a turn to its end. Throws `RequestError` while another one runs. */
  async prompt(blocks: readonly ContentBlock[]): Promise<StopReason> {
    if (this.#running !== undefined) {
      throw RequestError.invalidRequest(undefined, "A turn is running. Wait for its end, or cancel it.");
    }
    const running: RunningTurn = { turnId: "", cancelled: false };
    this.#running = running;
    try {
      return await this.#turn(contentOf(blocks), running);
    } finally {
      this.#running = undefined;
    }
  }

  /** Ends the running turn; `prompt` gives its end when the server says that it has stopped. */
  async cancel(): Promise<void> {
    const running = this.#running;
    if (running === undefined || running.cancelled) return;
    running.cancelled = true;
    if (running.turnId !== "") await this.#session.cancelTurn(running.turnId, cancelReason, this.#place);
  }

  async #turn({ text, images }: PromptContent, running: RunningTurn): Promise<StopReason> {
    const { signal } = this.#place;
    if (this.#mode === "branch" && !(await this.#prepareBranch(text))) return "refusal";
    if (running.cancelled) return "cancelled";
    const updates = this.#updates({ withPrompts: false });
    const proposals: Proposal[] = [];
    let outcome: ReturnType<typeof turnOutcome>;
    const events = this.#session.runTurn(
      { text, images, enableThinking: true },
      {
        signal,
        maxAttempts: 20,
        onStart: ({ turnId }) => {
          running.turnId = turnId;
          if (running.cancelled) this.#session.cancelTurn(turnId, cancelReason, this.#place).catch(() => undefined);
        },
      },
    );
    for await (const event of events) {
      outcome = turnOutcome(event) ?? outcome;
      if (event.event.case === "proposedChanges") proposals.push(proposalFromMessage(event.event.value));
      await this.#tell(await updates.of(event));
    }
    if (outcome === "cancelled" || running.cancelled) return "cancelled";
    for (const proposal of proposals) await this.#decide(proposal);
    return outcome === "completed" ? "end_turn" : "refusal";
  }

  /** False when there is none to work on; the person is told why. */
  async #prepareBranch(task: string): Promise<boolean> {
    const { server, signal } = this.#place;
    try {
      const { branch, how } = await prepareBranch(server, { sessionId: this.sessionId, task, signal });
      if (how !== "kept") await this.#say(`Branch ${spelledOut(branch)} (${how}).\n\n`);
      return true;
    } catch (error) {
      if (callFailure(error) !== "final") throw error;
      await this.#say(
        `${spelledOut(error instanceof ConnectError ? error.rawMessage : String(error))} Nothing was started: mend it, or choose the mode Proposal.`,
      );
      return false;
    }
  }

  /** All or nothing, by the editor; by hunk in another client of the session. */
  async #decide(proposal: Proposal): Promise<void> {
    const { editor, signal } = this.#place;
    const files = proposal.changes.map(({ path }) => spelledOut(path)).join(", ");
    const { outcome } = await editor.request(
      methods.client.session.requestPermission,
      {
        sessionId: this.sessionId,
        toolCall: { toolCallId: proposal.toolCallId, title: `Write the proposed changes: ${files}` },
        options: [...proposalOptions],
      },
      { cancellationSignal: signal },
    );
    const review = proposalReview(proposal, outcome);
    if (review === undefined) {
      await this.#say("\n\nThe proposal stays open. Nothing was written.");
      return;
    }
    const expectedBases = new Map(proposal.changes.map(({ path, baseSha256 }) => [path, baseSha256]));
    const session = this.#session;
    const apply = () => session.applyProposal({ ...review, expectedBases }, { signal });
    const { files: written } = await session.whileAttached(apply, { signal });
    const said =
      written.length === 0 ? "Nothing was written." : `Written: ${written.map(({ path }) => path).join(", ")}`;
    await this.#say(`\n\n${spelledOut(said)}`);
  }

  #updates({ withPrompts }: { readonly withPrompts: boolean }): TurnUpdates {
    const session = this.#session;
    const { signal } = this.#place;
    return new TurnUpdates({
      workingDir: session.workingDir,
      withPrompts,
      textOf: async (sha256) => {
        const bytes = await session.blob(sha256, { signal }).catch(() => undefined);
        return bytes === undefined || bytes.length > maxShownText ? undefined : utf8(bytes);
      },
    });
  }

  #say(text: string): Promise<void> {
    return this.#tell([{ sessionUpdate: "agent_message_chunk", content: { type: "text", text } }]);
  }

  async #tell(updates: readonly SessionUpdate[]): Promise<void> {
    const { editor } = this.#place;
    const { sessionId } = this;
    for (const update of updates) await editor.notify(methods.client.session.update, { sessionId, update });
  }
}

function identityOf(place: SessionPlace, sessionId: () => string) {
  const { editor: client, capabilities, workingDir, name, version } = place;
  const editor = acpEditor({ client, capabilities, sessionId, workingDir });
  return { clientId: crypto.randomUUID(), name, version, editor };
}

function contentOf(blocks: readonly ContentBlock[]): PromptContent {
  try {
    return promptContent(blocks);
  } catch (error) {
    throw RequestError.invalidParams(undefined, error instanceof Error ? error.message : String(error));
  }
}

function utf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
