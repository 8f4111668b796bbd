import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { relative } from "node:path";
import type { Reporter, TestModule, TestSpecification } from "vitest/node";

/** Where the reporter keeps what is under way. */
export const underWayVariable = "GENNAI_TESTS_UNDER_WAY";

/**
 * A reporter of vitest that keeps in a file, in words, which test files are under way.
 * @public vitest takes it by its path.
 */
export default class FilesUnderWay implements Reporter {
  readonly #running = new Set<string>();
  #files = 0;
  #ended = 0;

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    this.#files = specifications.length;
    this.#keep();
  }

  onTestModuleStart({ moduleId }: TestModule): void {
    this.#running.add(moduleId);
    this.#keep();
  }

  onTestModuleEnd({ moduleId }: TestModule): void {
    this.#running.delete(moduleId);
    this.#ended += 1;
    this.#keep();
  }

  #keep(): void {
    const running = [...this.#running].map((file) => relative(process.cwd(), file)).join(", ") || "none";
    const words = `${this.#ended} of ${this.#files} test files have ended; running: ${running}`;
    writeFileSync(process.env[underWayVariable] ?? "", words);
  }
}

/** What the reporter kept. */
export function filesUnderWay(kept: string): string {
  return existsSync(kept) ? readFileSync(kept, "utf8") : "no test file has begun";
}
