import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TestServer } from "@gennai/testkit/test-server";

/** Everything that the server stores, and the workspace's content. */
export function keptText(server: TestServer): string {
  const texts: string[] = [];
  for (const root of [server.stateDir, server.workspace.root]) {
    for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
      if (entry.isFile()) texts.push(readFileSync(join(entry.parentPath, entry.name), "latin1"));
    }
  }
  return texts.join("\n");
}
