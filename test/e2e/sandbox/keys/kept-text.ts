import { storedFiles } from "@gennai/testkit/stored-files";
import type { TestServer } from "@gennai/testkit/test-server";

/** Everything that the server stores, and the workspace's content. */
export function keptText(server: TestServer): string {
  return [server.stateDir, server.workspace.root]
    .flatMap(storedFiles)
    .map(([, content]) => content.toString("latin1"))
    .join("\n");
}
