import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLocalWorkspace } from "@gennai/machine/workspace/local-workspace";
import { describeWorkspace } from "./workspace-conformance.ts";

describeWorkspace("LocalWorkspace", async () => {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "gennai-workspace-")));
  const [directory, outside, stateDir] = ["ws", "outside", "state"].map((name) => join(top, name)) as [
    string,
    string,
    string,
  ];
  for (const path of [directory, outside, stateDir]) mkdirSync(path);
  return {
    workspace: openLocalWorkspace(directory, { stateDir }),
    directory,
    outside,
    async [Symbol.asyncDispose]() {
      rmSync(top, { recursive: true, force: true });
    },
  };
});
