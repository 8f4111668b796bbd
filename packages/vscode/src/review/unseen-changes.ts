import { Code, ConnectError } from "@connectrpc/connect";
import { sha256Hex } from "@gennai/protocol/digest";
import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { type AppliedFile, appliedFileFromMessage } from "@gennai/protocol/model/session/proposal";
import { renamedFiles } from "@gennai/protocol/whole-moves";
import pLimit from "p-limit";
import * as z from "zod/mini";
import {
  afterLooking,
  afterMove,
  afterUndo,
  afterWrite,
  isAsKnown,
  movedBack,
  type UnseenFile,
} from "./unseen-file.ts";

/** File for one folder of a workspace, because paths are relative to that. @param root the session's folder, absolute */
export function storageName(root: string): string {
  return `unseen-changes-${sha256Hex(root).slice(0, 16)}.json`;
}

/** The session whose events are handled. */
export interface WritingSession {
  readonly sessionId: string;
  /** Rejects if there is no such content. */
  blob(sha256: string, options: { readonly signal: AbortSignal }): Promise<Uint8Array>;
}

export interface UnseenChangesOptions {
  /** What `save` was last called with; undefined: nothing. */
  readonly load: () => Promise<string | undefined>;
  readonly save: (json: string) => Promise<void>;
  /** The bytes of a file on disk; undefined if it does not exist. */
  readonly read: (path: string) => Promise<Uint8Array | undefined>;
  /** Called whenever the unseen changes have changed. */
  readonly changed: () => void;
  readonly onProblem: (what: string, error: unknown) => void;
}

interface WaitingEvent {
  readonly session: WritingSession;
  readonly seq: bigint;
  /** True if a person took the change set back. */
  readonly isUndo: boolean;
  readonly files: readonly AppliedFile[];
  /** True if it was reported that it cannot be shown yet. */
  isSaid?: boolean;
}

/** Texts; undefined: there was, or is, no file. */
interface WrittenContent {
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
  /** The old path of a file that was only renamed. */
  readonly from?: string;
}

/** Largest text that is kept, in bytes; larger files are only shown in a diff. */
const largest = 2 * 1024 * 1024;
/** Most characters of all kept texts; beyond that, the oldest is dropped. */
const mostCharacters = 32 * 1024 * 1024;
/** Most sessions whose position is remembered. */
const mostSessions = 50;
/** Milliseconds for one content, and until the server is asked again. */
const timeoutMs = 10_000;
/** Milliseconds after a save during which what the agent writes is gathered. */
const settle = 1000;
/** Error codes for content that the server will not have later, either. */
const lasting: ReadonlySet<Code> = new Set([
  Code.NotFound,
  Code.PermissionDenied,
  Code.InvalidArgument,
  Code.FailedPrecondition,
  Code.ResourceExhausted,
  Code.Unimplemented,
  Code.DataLoss,
]);
/** Milliseconds; a session that is opened again sends all its events at once. */
const gather = 100;

const savedSchema = z.object({
  heard: z.array(z.tuple([z.string(), z.string()])),
  files: z.array(
    z.object({
      path: z.string(),
      base: z.optional(z.string()),
      agent: z.optional(z.string()),
      movedFrom: z.optional(z.string()),
    }),
  ),
});

/**
 * What the agent wrote since the user last looked, file by file, stored for the workspace. Contents come from the session's
 * change sets; a file that is not UTF-8 text, or too large, is not tracked.
 */
export class UnseenChanges {
  readonly #options: UnseenChangesOptions;
  readonly #files = new Map<string, UnseenFile>();
  /** The last event that `#files` includes, by session. */
  readonly #heard = new Map<string, bigint>();
  /** Change sets of the sessions that were followed: a fork reports an undo even if it never had the change set. */
  readonly #changeSets = new Set<string>();
  readonly #takeInOrder = pLimit(1);
  readonly #saveInOrder = pLimit(1);
  /** Keyed by session and seq, because a session that is followed again repeats waiting events. */
  readonly #waiting = new Map<string, WaitingEvent>();
  #loaded: Promise<void> | undefined;
  #taking: ReturnType<typeof setTimeout> | undefined;
  #retrying: ReturnType<typeof setTimeout> | undefined;
  #saving: ReturnType<typeof setTimeout> | undefined;
  #isSaved = true;
  #isDisposed = false;

  constructor(options: UnseenChangesOptions) {
    this.#options = options;
  }

  /** In the order in which the agent wrote them. */
  get files(): readonly UnseenFile[] {
    return [...this.#files.values()];
  }

  of(path: string): UnseenFile | undefined {
    return this.#files.get(path);
  }

  /** Loads what was saved. Never rejects. */
  load(): Promise<void> {
    this.#loaded ??= this.#load();
    return this.#loaded;
  }

  onEvent({ event, seq }: InvokeEvent, session: WritingSession): void {
    if (event.case !== "changeSetApplied" && event.case !== "changeSetUndone") return;
    const changeSet = `${session.sessionId} ${event.value.changeSetId}`;
    const isUndo = event.case === "changeSetUndone";
    if (isUndo && !this.#changeSets.has(changeSet)) return;
    this.#changeSets.add(changeSet);
    // The user has seen what was kept of a proposal.
    if (event.case === "changeSetApplied" && event.value.proposalId !== "") return;
    const files = event.value.files.map(appliedFileFromMessage);
    this.#waiting.set(`${session.sessionId} ${seq}`, { session, seq, isUndo, files });
    this.#taking ??= setTimeout(() => {
      this.#taking = undefined;
      void this.#take();
    }, gather);
  }

  /** The user has seen one hunk. */
  look(path: string, hunkId: string): void {
    const file = this.#files.get(path);
    if (file === undefined) return;
    this.#set(path, afterLooking(file, hunkId));
    this.#changed("user");
  }

  /** The user has seen whole files. */
  lookAt(paths: readonly string[]): void {
    for (const path of paths) this.#files.delete(path);
    this.#changed("user");
  }

  /** Forgets a file whose content on disk is what the user knows, e.g. after all its hunks were taken back. Never rejects. */
  async recheck(path: string): Promise<void> {
    const file = this.#files.get(path);
    if (file === undefined) return;
    try {
      const now = await this.#textOnDisk(path);
      const isBack = file.movedFrom !== undefined && now === undefined;
      const old = isBack ? await this.#textOnDisk(file.movedFrom) : undefined;
      if ((!isBack && !isAsKnown(file, now)) || this.#files.get(path) !== file) return;
      this.#set(path, undefined);
      const back = isBack && old !== undefined ? movedBack(file) : undefined;
      if (back !== undefined && !isAsKnown(back, old)) this.#set(back.path, back);
      this.#changed("user");
    } catch (error) {
      this.#options.onProblem(`${path} could not be read.`, error);
    }
  }

  /** Starts to save what is not saved yet. */
  [Symbol.dispose](): void {
    this.#isDisposed = true;
    clearTimeout(this.#taking);
    clearTimeout(this.#retrying);
    clearTimeout(this.#saving);
    if (!this.#isSaved) void this.#save();
  }

  async #textOnDisk(path: string): Promise<string | undefined> {
    const bytes = await this.#options.read(path);
    return bytes && new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  }

  #take(): Promise<void> {
    return this.#takeInOrder(async () => {
      await this.load();
      const before = this.files;
      /** Sessions whose contents could not be loaded: later events of theirs wait, too. */
      const held = new Set<string>();
      for (const [key, waiting] of [...this.#waiting]) {
        const { session, seq } = waiting;
        if (held.has(session.sessionId)) continue;
        if (seq > (this.#heard.get(session.sessionId) ?? 0n)) {
          const contents = await this.#contentsOf(waiting);
          if (contents === undefined) {
            held.add(session.sessionId);
            continue;
          }
          // After all awaits and without another: what the user saw meanwhile stays seen.
          for (const content of contents) this.#wrote(content, waiting.isUndo);
          this.#heard.delete(session.sessionId);
          this.#heard.set(session.sessionId, seq);
        }
        this.#waiting.delete(key);
      }
      if (held.size > 0) this.#retryLater();
      for (const id of this.#heard.keys()) if (this.#heard.size > mostSessions) this.#heard.delete(id);
      const after = this.files;
      if (before.length === after.length && before.every((file, index) => file === after[index])) return;
      this.#changed("agent");
    });
  }

  #retryLater(): void {
    if (this.#isDisposed) return;
    this.#retrying ??= setTimeout(() => {
      this.#retrying = undefined;
      void this.#take();
    }, timeoutMs);
  }

  #wrote({ path, before, after, from }: WrittenContent, isUndo: boolean): void {
    const known = this.#files.get(path);
    if (from !== undefined) {
      this.#set(path, afterMove(this.#files.get(from), { from, to: path, text: after, isUndo }));
      this.#set(from, undefined);
      return;
    }
    if (!isUndo) this.#set(path, afterWrite(path, known, before, after));
    else if (known !== undefined) this.#set(path, afterUndo(known, before, after));
  }

  /** What an event did to each tracked file; undefined if the server could not be reached: it must be asked again. */
  async #contentsOf(waiting: WaitingEvent): Promise<readonly WrittenContent[] | undefined> {
    const contents: WrittenContent[] = [];
    const renamed = this.#renamed(waiting);
    const gone = new Set(renamed.values());
    for (const file of waiting.files) {
      const { path, beforeSha256, afterSha256 } = file;
      const from = renamed.get(file)?.path;
      if (gone.has(file) || (waiting.isUndo && !this.#files.has(from ?? path))) continue;
      try {
        const before = await this.#content(path, beforeSha256, waiting.session);
        const after = await this.#content(from ?? path, afterSha256, waiting.session);
        contents.push({ path, before, after, ...(from === undefined ? {} : { from }) });
      } catch (error) {
        const isUnreached = error instanceof Unreached;
        if (!isUnreached || !waiting.isSaid) {
          this.#options.onProblem(`The changes of ${path} are not shown in its editor.`, error);
        }
        waiting.isSaid = true;
        if (isUnreached) return undefined;
      }
    }
    return contents;
  }

  /** Renames to paths at which nothing else is to be looked at. */
  #renamed({ files }: WaitingEvent): ReadonlyMap<AppliedFile, AppliedFile> {
    return new Map([...renamedFiles(files)].filter(([{ path }]) => !this.#files.has(path)));
  }

  /** The text of a digest: from the session, else from the file if that still has it. Rejects if neither has it. */
  async #content(path: string, sha256: string | undefined, session: WritingSession): Promise<string | undefined> {
    if (sha256 === undefined) return undefined;
    const known = this.#files.get(path);
    for (const text of [known?.agent, known?.base]) if (text !== undefined && sha256Hex(text) === sha256) return text;
    const signal = AbortSignal.timeout(timeoutMs);
    const bytes = await session.blob(sha256, { signal }).catch(async (error: unknown) => {
      const onDisk = await this.#options.read(path).catch(() => undefined);
      if (onDisk !== undefined && sha256Hex(onDisk) === sha256) return onDisk;
      throw lasting.has(ConnectError.from(error).code)
        ? error
        : new Unreached("Its content could not be loaded.", { cause: error });
    });
    if (sha256Hex(bytes) !== sha256) throw new Error("The server sent other bytes than the change names.");
    if (bytes.length > largest) throw new Error("It is too large.");
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    if (text.includes("\0")) throw new Error("It is not text.");
    return text;
  }

  #set(path: string, file: UnseenFile | undefined): void {
    if (file === this.#files.get(path) && file !== undefined) return;
    this.#files.delete(path);
    if (file !== undefined) this.#files.set(file.path, file);
  }

  async #load(): Promise<void> {
    try {
      const json = await this.#options.load();
      if (json === undefined) return;
      const { heard, files } = savedSchema.parse(JSON.parse(json));
      for (const [id, seq] of heard) this.#heard.set(id, BigInt(seq));
      for (const { path, base, agent, movedFrom } of files) this.#files.set(path, { path, base, agent, movedFrom });
      if (files.length > 0) this.#options.changed();
    } catch (error) {
      this.#options.onProblem("The list of changes to look at could not be read.", error);
    }
  }

  /** What a user did is saved at once, because the window may be closed next; what the agent writes is gathered for a while. */
  #changed(by: "user" | "agent"): void {
    let held = 0;
    for (const { path, base = "", agent = "" } of [...this.#files.values()].reverse()) {
      held += base.length + agent.length;
      if (held > mostCharacters) this.#files.delete(path);
    }
    this.#isSaved = false;
    // Shown when it is kept: whoever sees it may close the window.
    if (by === "user") void this.#save().then(this.#options.changed);
    else {
      this.#options.changed();
      if (this.#isDisposed || this.#saving === undefined) void this.#save();
    }
  }

  /** Never rejects. */
  #save(): Promise<void> {
    clearTimeout(this.#saving);
    if (!this.#isDisposed) {
      this.#saving = setTimeout(() => {
        this.#saving = undefined;
        if (!this.#isSaved) void this.#save();
      }, settle);
    }
    return this.#saveInOrder(async () => {
      // The one before has saved it, too.
      if (this.#isSaved) return;
      this.#isSaved = true;
      const heard = [...this.#heard].map(([id, seq]) => [id, String(seq)]);
      await this.#options
        .save(JSON.stringify({ heard, files: this.files }))
        .catch((error: unknown) =>
          this.#options.onProblem("The list of changes to look at could not be stored.", error),
        );
    });
  }
}

/** The server could not be reached, or did not answer: a later try may succeed. */
class Unreached extends Error {}
