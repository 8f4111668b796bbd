import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Where the tests lie that take longest, longest first: stages, whole servers, crashes, load, and what the documentation shows. */
const long = [
  "stage",
  "effects",
  "corpus",
  "scale",
  "crash",
  "docs",
  "release",
  "e2e/replicas",
  "fuzz",
  "conformance",
  "deploy",
  "e2e",
];

/**
 * Begins with what takes longest, so that no worker is left with it at the end, while the others have nothing to do. What shares
 * a process comes after all that has one of its own: vitest ends a shared process as soon as the next file is none of its.
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
