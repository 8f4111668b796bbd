import type { FileBase } from "@gennai/governance/effect";
import type { ObservedFile } from "@gennai/governance/tool";

/** The last content that a session saw of each file: the base for checking writes. A fold over `observed` in its log. */
export class KnownFiles {
  readonly #bases = new Map<string, FileBase>();
  /** By path, the digest of the content that the model last saw with line numbers. */
  readonly #numbered = new Map<string, string>();

  /** @param path relative to the workspace, as in `WorkspacePath.relative` */
  base(path: string): FileBase | undefined {
    return this.#bases.get(path);
  }

  /** Whether the line numbers that the model last saw are those of the base. */
  hasLineNumbers(path: string): boolean {
    const base = this.#bases.get(path);
    return base !== undefined && base.sha256 === this.#numbered.get(path);
  }

  /** Relative to the workspace. */
  get paths(): Iterable<string> {
    return this.#bases.keys();
  }

  observe({ path, source, sha256, numbered }: ObservedFile): void {
    if (sha256 === undefined) {
      this.#bases.delete(path);
      this.#numbered.delete(path);
      return;
    }
    this.#bases.set(path, { source, sha256 });
    if (numbered === true) this.#numbered.set(path, sha256);
  }

  clear(): void {
    this.#bases.clear();
    this.#numbered.clear();
  }
}
