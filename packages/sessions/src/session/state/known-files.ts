import type { FileBase } from "@gennai/governance/effect";
import type { ObservedFile } from "@gennai/governance/tool";

/** What a session last saw of each file: the bases that writes are checked against. A fold over `observed` in its log. */
export class KnownFiles {
  readonly #bases = new Map<string, FileBase>();
  /** By path, the digest of the content whose lines the model last saw numbered. */
  readonly #numbered = new Map<string, string>();

  /** @param path relative to the workspace, as in `WorkspacePath.relative` */
  base(path: string): FileBase | undefined {
    return this.#bases.get(path);
  }

  /** Whether the numbers of the lines that the model last saw are those of the base. */
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
