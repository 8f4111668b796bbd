import { decidableIds, decisionFor, type ReviewState } from "@gennai/client/host/review-state";
import {
  type BlobSource,
  type ChangeContent,
  type ContentSide,
  loadChangeContent,
} from "@gennai/client/review/change-content";
import { applyReview, checkHunks, type HunkDecision } from "@gennai/protocol/apply-review";
import { errorMessage } from "@gennai/protocol/error-message";
import type { ProposedChange } from "@gennai/protocol/model/session/proposal";
import { type ReadonlySignal, type Signal, signal } from "@preact/signals";

/** Most characters of file content that are kept in memory, both sides of all changes together. */
const maxKept = 64 * 1024 * 1024;

/** The contents of a proposal's changes, each fetched and checked once, when it is first shown. */
export class ContentCache implements Disposable {
  readonly #blob: BlobSource;
  readonly #over = new AbortController();
  readonly #kept = new Map<string, Signal<ChangeContent>>();

  constructor(blob: BlobSource) {
    this.#blob = blob;
  }

  /** What is known of a change; fetches it if nothing is. */
  of(change: ProposedChange): ReadonlySignal<ChangeContent> {
    const known = this.#kept.get(change.id);
    if (known !== undefined) return known;
    const content = signal<ChangeContent>({ type: "loading" });
    this.#kept.set(change.id, content);
    this.#load(change).then(
      (loaded) => {
        content.value = loaded;
        this.#forgetOldest(change.id);
      },
      () => this.#kept.delete(change.id),
    );
    return content;
  }

  /** Fetches and checks again a change that could not be shown. */
  retry(change: ProposedChange): void {
    if (this.#kept.get(change.id)?.peek().type === "unverified") this.#kept.delete(change.id);
    this.of(change);
  }

  /**
   * Why the decisions about a change cannot be carried out; undefined if they can, or if nothing of it is kept. Rejects if the
   * cache is disposed.
   */
  async objection(change: ProposedChange, state: ReviewState): Promise<string | undefined> {
    const decisions = new Map<string, HunkDecision>();
    for (const id of decidableIds(change)) {
      const decision = decisionFor(state, change.id, id);
      if (decision !== undefined) decisions.set(id, decision);
    }
    if ([...decisions.values()].every(({ type }) => type === "undo")) return undefined;
    const known = this.#kept.get(change.id)?.peek();
    const content = known === undefined || known.type === "loading" ? await this.#load(change) : known;
    if (content.type === "unverified") return content.reason;
    if (content.type === "loading" || content.base.type === "binary" || content.fresh.type === "binary")
      return undefined;
    try {
      applyReview(textOf(content.base), textOf(content.fresh), change, decisions);
      return undefined;
    } catch (error) {
      return errorMessage(error);
    }
  }

  [Symbol.dispose](): void {
    this.#over.abort();
    this.#kept.clear();
  }

  async #load(change: ProposedChange): Promise<ChangeContent> {
    const content = await loadChangeContent(change, this.#blob, { signal: this.#over.signal });
    if (content.type !== "loaded") return content;
    const [base, fresh] = [textOf(content.base) ?? "", textOf(content.fresh) ?? ""];
    if (content.base.type === "binary" || content.fresh.type === "binary") return content;
    // A change without hunks is shown as a whole.
    if (change.hunks.length === 0) return content;
    try {
      checkHunks(base, fresh, change);
      return content;
    } catch (error) {
      return { type: "unverified", reason: errorMessage(error) };
    }
  }

  #forgetOldest(newest: string): void {
    let size = 0;
    for (const content of this.#kept.values()) size += sizeOf(content.peek());
    for (const [id, content] of this.#kept) {
      if (size <= maxKept) return;
      if (id === newest) continue;
      size -= sizeOf(content.peek());
      this.#kept.delete(id);
    }
  }
}

/** The text of a side; undefined if there is no file, or no text. */
export function textOf(side: ContentSide): string | undefined {
  return side.type === "text" ? side.text : undefined;
}

/** Line numbers of hunks do not count a byte-order mark. */
export function withoutMark(text: string): string {
  return text.startsWith("\uFEFF") ? text.slice(1) : text;
}

function sizeOf(content: ChangeContent): number {
  if (content.type !== "loaded") return 0;
  return (textOf(content.base)?.length ?? 0) + (textOf(content.fresh)?.length ?? 0);
}
