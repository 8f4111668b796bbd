import type { ClientIdentity } from "@gennai/client/connection/client-identity";
import type { AgentClient } from "@gennai/client/connection/connection";
import { AgentSession } from "@gennai/client/session/agent-session";
import { stayingLines } from "@gennai/client/session/checkpoints";
import { watchSessions } from "@gennai/client/session/session-list";
import type { UserMessageItem } from "@gennai/client/view/items/view-item";
import type { SessionView } from "@gennai/client/view/session-view";
import type { ReadonlySignal } from "@preact/signals";
import type { ReplHost } from "../hosts/repl-host.ts";
import type { FollowedSession } from "./session/followed-session.ts";
import { promptImages } from "./session/prompt-images.ts";
import type { SessionDirectory } from "./session/session-directory.ts";
import type { TurnControl } from "./turn-control.ts";

export const notOpened = "The session could not be opened";

/** A prompt with its position in the log. */
interface SaidPrompt {
  readonly item: UserMessageItem;
  readonly turnId: string;
  readonly seq: bigint;
}

export interface SessionActionsParts {
  readonly host: Pick<ReplHost, "revertChangeSet">;
  readonly agent: AgentClient;
  readonly identity: ClientIdentity;
  readonly directory: SessionDirectory;
  /** The session that is shown. */
  readonly followed: ReadonlySignal<FollowedSession | undefined>;
  readonly turns: TurnControl;
  show(session: AgentSession): void;
  showNew(): void;
  /** Runs `work`; shows the failure if it rejects. */
  attempt(what: string, work: (signal: AbortSignal) => Promise<void>): Promise<boolean>;
}

/** What a person does with whole sessions: open, copy, clear, rename, delete and list them. Failures are shown. */
export class SessionActions {
  readonly #parts: SessionActionsParts;

  constructor(parts: SessionActionsParts) {
    this.#parts = parts;
  }

  async switchTo(sessionId: string): Promise<void> {
    await this.#parts.attempt(notOpened, (signal) => this.#open(sessionId, signal));
  }

  /** Opens a new session with the history up to an event; with 0, all of it. */
  async fork(sessionId: string, throughSeq: bigint = 0n): Promise<void> {
    await this.#parts.attempt("The session could not be copied", (signal) =>
      this.#openCopy(sessionId, throughSeq, signal),
    );
  }

  /**
   * Continues in a copy of the session from before a prompt, with that prompt sent again or put into the box. The original
   * session stays, and files are not touched.
   */
  async sayAgain(said: SaidPrompt, how: "retry" | "edit"): Promise<void> {
    const { followed, turns } = this.#parts;
    const shown = followed.value;
    if (shown === undefined) return;
    const { text, images: blobs } = said.item;
    await this.#parts.attempt("The prompt could not be said again", async (signal) => {
      const { session } = shown;
      const contents = await Promise.all(blobs.map(({ sha256 }) => session.blob(sha256, { signal })));
      await this.#openCopy(session.sessionId, beforePrompt(shown.view.value, said), signal);
      const images = promptImages(contents, blobs);
      if (how === "retry") turns.send(text, images);
      else {
        turns.addToDraft(text);
        turns.draftImages.value = [...turns.draftImages.value, ...images];
      }
    });
  }

  async clear(): Promise<void> {
    const sessionId = this.#shownId;
    if (sessionId === undefined) return;
    await this.#parts.attempt("The conversation could not be cleared", async (signal) => {
      await this.#parts.agent.clearSession({ sessionId }, { signal });
    });
  }

  /** @param title one line, 1 to 200 characters */
  async rename(sessionId: string, title: string): Promise<void> {
    await this.#parts.attempt("The session could not be renamed", async (signal) => {
      await this.#parts.agent.renameSession({ sessionId, title }, { signal });
    });
    await this.list();
  }

  /** Deletes a session for good, after the person agreed. If it was shown, a new session is shown. */
  async delete(sessionId: string): Promise<void> {
    const isShown = this.#shownId === sessionId;
    await this.#parts.attempt("The session could not be deleted", async (signal) => {
      await this.#parts.agent.deleteSession({ sessionId }, { signal });
      if (isShown && this.#shownId === sessionId) this.#parts.showNew();
    });
    await this.list();
  }

  async list(): Promise<void> {
    await this.#parts.attempt("The sessions could not be listed", (signal) => this.#load(signal));
  }

  /** Keeps the list as it is, as long as other sessions work or wait. Never rejects: nobody asked for it. */
  async watch(isSeen: () => boolean, signal: AbortSignal): Promise<void> {
    const { sessions } = this.#parts.directory;
    const look = async (abort: AbortSignal) => {
      await this.#load(abort);
      return sessions.peek();
    };
    await watchSessions(look, { shown: this.#shownId, isSeen, signal }).catch(() => undefined);
  }

  async listScenarios(): Promise<void> {
    await this.#parts.attempt("The scenarios could not be listed", (signal) =>
      this.#parts.directory.loadScenarios(this.#shownId ?? "", signal),
    );
  }

  /** What an undo would leave as it is, a line a file. A window that takes it back asks about that itself. */
  async staysInUndo(changeSetId: string): Promise<readonly string[]> {
    if (this.#parts.host.revertChangeSet !== undefined) return [];
    const stays: string[] = [];
    await this.#parts.attempt("The changes cannot be undone", async (signal) => {
      const undone = await this.#parts.followed.value?.session.undo({ changeSetId, dryRun: true, signal });
      stays.push(...stayingLines(undone?.skipped ?? []));
    });
    return stays;
  }

  /** @param rest although some files stay as they are */
  async undoChangeSet(changeSetId: string, rest = false): Promise<void> {
    const followed = this.#parts.followed.value;
    if (followed === undefined) return;
    await this.#parts.attempt("The changes could not be undone", async (signal) => {
      if (this.#parts.host.revertChangeSet !== undefined) await this.#parts.host.revertChangeSet(changeSetId);
      else await followed.session.undo({ changeSetId, rest, signal });
    });
  }

  #load(signal: AbortSignal): Promise<void> {
    return this.#parts.directory.loadSessions(this.#parts.followed.value?.session.workingDir, signal);
  }

  get #shownId(): string | undefined {
    return this.#parts.followed.value?.session.sessionId;
  }

  async #openCopy(sessionId: string, throughSeq: bigint, signal: AbortSignal): Promise<void> {
    const copy = await this.#parts.agent.forkSession({ sessionId, throughSeq }, { signal });
    await this.#open(copy.sessionId, signal);
  }

  async #open(sessionId: string, signal: AbortSignal): Promise<void> {
    const { agent, identity, show } = this.#parts;
    show(await AgentSession.resume(agent, identity, sessionId, { signal }));
  }
}

/** The last event before a prompt. A turn begins with another event before the prompt; a message during a turn does not. */
function beforePrompt(view: SessionView, { turnId, seq }: SaidPrompt): bigint {
  const first = view.cells.find((cell) => cell.turnId === turnId);
  const before = first?.seq === seq ? seq - 2n : seq - 1n;
  return before < 1n ? 1n : before;
}
