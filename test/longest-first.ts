import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Where the tests lie that take longest, longest first: stages, whole servers, crashes, load, and what the documentation shows. */
const long = [
  ...["stage", "effects", "corpus", "scale", "crash", "docs", "release", "e2e/replicas", "e2e/sandbox", "fuzz"],
  ...["conformance", "deploy", "e2e/vscode", "e2e/browser/chat", "e2e"],
];

/**
 * Starts with the slowest files, so that no worker is left with one at the end while the others are idle. Files that share a
 * process come after all that have their own: vitest ends a shared process as soon as the next file does not use it.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const known = await super.sort(files);
    return known.toSorted((one, other) => sharing(one) - sharing(other) || rank(one.moduleId) - rank(other.moduleId));
  }
}

function sharing({ project }: TestSpecification): number {
  return project.config.isolate ? 0 : 1;
}

function rank(file: string): number {
  const at = long.findIndex((place) => file.includes(`/test/${place}/`));
  return at === -1 ? long.length : at;
}
