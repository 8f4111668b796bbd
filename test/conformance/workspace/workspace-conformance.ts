import { describe } from "vitest";
import { describeApply } from "./apply-conformance.ts";
import { describeFiles } from "./file-conformance.ts";
import { describeResolve } from "./resolve-conformance.ts";
import { describeRoot } from "./root-conformance.ts";
import { describeSearch } from "./search-conformance.ts";
import type { OpenWorkspace } from "./use-workspace.ts";

/** What every implementation of the `Workspace` port has to do. Call it in a test file with a factory. */
export function describeWorkspace(name: string, open: OpenWorkspace): void {
  for (const part of [describeResolve, describeFiles, describeSearch, describeApply, describeRoot]) {
    describe(`${name}`, () => {
      part(open);
    });
  }
}
