import type { FileBase } from "@gennai/governance/effect";
import type { ObservedFile } from "@gennai/governance/tool";

/** What a session last saw of each file: the bases that writes are checked against. A fold over `observed` in its log. */
export class KnownFiles {
  readonly #bases = new Map<string, FileBase>();

  /** @param path relative to the workspace, as in `WorkspacePath.relative` */
  base(path: string): FileBase | undefined {
    return this.#bases.get(path);
  }

  /** Relative to the workspace. */
  get paths(): Iterable<string> {
    return this.#bases.keys();
  }

  observe(file: ObservedFile): void {
    if (file.sha256 === undefined) this.#bases.delete(file.path);
    else this.#bases.set(file.path, { source: file.source, sha256: file.sha256 });
  }

  clear(): void {
    this.#bases.clear();
  }
}
