import { type BlobSource, type ContentSide, checkedBlob, sideOf } from "@gennai/client/review/change-content";
import type { AppliedFile } from "@gennai/protocol/model/session/proposal";
import { type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { withoutMark } from "../../review/content-cache.ts";
import { type FileDiff, fileDiff } from "../../review/file-diff.ts";

/** What is known of both sides of a changed file. */
export type ChangedContent =
  | { readonly type: "loading" }
  /** Sides without a byte-order mark; an absent one is empty. */
  | { readonly type: "text"; readonly before: string; readonly after: string; readonly diff: FileDiff }
  | { readonly type: "binary"; readonly bytes: number }
  /** Only what happened to the file is known. */
  | { readonly type: "unknown"; readonly reason: string };

/** Changed files whose sides are kept in memory; the oldest are dropped first. */
const maxKept = 200;

/** What calls changed in files: both sides, which are fetched from the server and checked once, when they are first shown. */
export class ChangeContents implements Disposable {
  readonly #blob: BlobSource;
  readonly #over = new AbortController();
  readonly #kept = new Map<string, Signal<ChangedContent>>();

  constructor(blob: BlobSource) {
    this.#blob = blob;
  }

  /** What is known of a change; fetches it if nothing is. */
  of(file: AppliedFile): ReadonlySignal<ChangedContent> {
    const key = `${file.beforeSha256 ?? ""}:${file.afterSha256 ?? ""}`;
    const known = this.#kept.get(key);
    if (known !== undefined) return known;
    const content = signal<ChangedContent>({ type: "loading" });
    this.#kept.set(key, content);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > maxKept && oldest !== undefined) this.#kept.delete(oldest);
    void this.#load(file).then((loaded) => {
      content.value = loaded;
    });
    return content;
  }

  [Symbol.dispose](): void {
    this.#over.abort();
    this.#kept.clear();
  }

  async #load({ beforeSha256, afterSha256 }: AppliedFile): Promise<ChangedContent> {
    try {
      const [before, after] = await Promise.all([this.#side(beforeSha256), this.#side(afterSha256)]);
      if (before.type === "binary") return before;
      if (after.type === "binary") return after;
      const texts = [before, after].map((side) => (side.type === "text" ? withoutMark(side.text) : ""));
      const [old = "", fresh = ""] = texts;
      return { type: "text", before: old, after: fresh, diff: fileDiff(old, fresh) };
    } catch {
      return {
        type: "unknown",
        reason: "What changed cannot be shown: it is too large, holds a secret, or was purged.",
      };
    }
  }

  async #side(sha256: string | undefined): Promise<ContentSide> {
    if (sha256 === undefined) return { type: "absent" };
    return sideOf(await checkedBlob(sha256, "the file", this.#blob, { signal: this.#over.signal }));
  }
}
