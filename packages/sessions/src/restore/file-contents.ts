import { readFile, stat } from "node:fs/promises";
import { sha256 } from "@gennai/machine/workspace/files/content-digest";
import type { ReplacedFiles } from "@gennai/stage/commit/replaced-files";
import { CheckpointError } from "@gennai/store/checkpoints/checkpoint-error";
import type { FileState } from "@gennai/store/checkpoints/file-state";
import type { WorkspaceCheckpoints } from "@gennai/store/checkpoints/workspace-checkpoints";
import type { BlobStore } from "@gennai/store/log/session-log";

/** Contents that steps refer to, wherever they are stored: files that commits replaced, blobs of change sets, or snapshots. */
export class FileContents {
  readonly #blobs: Pick<BlobStore, "get">;
  readonly #snapshots: Pick<WorkspaceCheckpoints, "contents">;
  readonly #replaced: Pick<ReplacedFiles, "find"> | undefined;
  /** Paths by SHA-256. */
  readonly #files = new Map<string, Promise<string | undefined>>();
  /** SHA-256 by git's object id. */
  readonly #digests = new Map<string, string>();

  constructor(
    blobs: Pick<BlobStore, "get">,
    snapshots: Pick<WorkspaceCheckpoints, "contents">,
    replaced?: Pick<ReplacedFiles, "find">,
  ) {
    this.#blobs = blobs;
    this.#snapshots = snapshots;
    this.#replaced = replaced;
  }

  /** True if both are the same kind with the same content and, if both are known, the same permission bits. */
  async same(one: FileState, other: FileState): Promise<boolean> {
    if (one.type === "unknown" || other.type === "unknown" || one.type !== other.type) return false;
    if (one.type === "absent" || other.type === "absent") return true;
    if (one.mode !== undefined && other.mode !== undefined && one.mode !== other.mode) return false;
    return this.isSameContent(one, other);
  }

  async isSameContent(one: KeptState, other: KeptState): Promise<boolean> {
    if (one.object !== undefined && other.object !== undefined) return one.object === other.object;
    return (await this.digest(one)) === (await this.digest(other));
  }

  /** SHA-256. Rejects with `CheckpointError` `not_kept`. */
  async digest(state: KeptState): Promise<string> {
    if (state.sha256 !== undefined) return state.sha256;
    const known = this.#digests.get(state.object ?? "");
    if (known !== undefined) return known;
    const [bytes] = await this.read([state]);
    if (bytes === undefined) throw notKept();
    const digest = sha256(bytes);
    if (state.object !== undefined) this.#digests.set(state.object, digest);
    return digest;
  }

  /** Whether the bytes that a change recorded are stored; of a snapshot they always are, or `read` rejects. */
  async isKept(state: KeptState): Promise<boolean> {
    const { sha256: digest } = state;
    if (digest === undefined || (await this.fileOf(state)) !== undefined) return true;
    return (await this.#blobs.get(digest)) !== undefined;
  }

  /** Path of a file with the content; undefined if it is stored in another way. */
  async fileOf({ type, sha256: digest }: KeptState): Promise<string | undefined> {
    if (type === "link" || digest === undefined) return undefined;
    // Each is read once to be compared.
    const known = this.#files.get(digest) ?? this.#replaced?.find(digest);
    if (known !== undefined) this.#files.set(digest, known);
    return known;
  }

  /** A content, wherever it is stored; undefined if it is not kept any more, or has more than `maxBytes`. */
  async bytes(state: KeptState, { maxBytes }: { readonly maxBytes: number }): Promise<Uint8Array | undefined> {
    const file = await this.fileOf(state);
    if (file !== undefined) return (await stat(file)).size > maxBytes ? undefined : readFile(file);
    try {
      const [bytes] = await this.read([state]);
      return bytes !== undefined && bytes.length <= maxBytes ? bytes : undefined;
    } catch (error) {
      if (error instanceof CheckpointError && error.code === "not_kept") return undefined;
      throw error;
    }
  }

  /** Contents, in the order of the states. Rejects with `CheckpointError` `not_kept` if one is missing or damaged. */
  async read(states: readonly KeptState[]): Promise<readonly Uint8Array[]> {
    const objects = states.flatMap(({ sha256: digest, object }) =>
      digest === undefined && object !== undefined ? [object] : [],
    );
    const found = await this.#snapshots.contents(objects);
    const all: Uint8Array[] = [];
    for (const { sha256: digest, object } of states) {
      const bytes = digest === undefined ? found.get(object ?? "") : await this.#blobs.get(digest);
      if (bytes === undefined) throw notKept();
      all.push(bytes);
    }
    return all;
  }
}

/** A file or a link whose content may be stored. */
export type KeptState = Extract<FileState, { readonly type: "file" | "link" }>;

function notKept(): CheckpointError {
  return new CheckpointError("not_kept", "The content from before is no longer kept.");
}
