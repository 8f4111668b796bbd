import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openClientWorkspaces } from "@gennai/sessions/client-workspace/open-client-workspaces";
import { DiskWorkspace } from "@gennai/shell/disk-workspace";
import { FileBlobStore } from "@gennai/store/sqlite/file-blob-store";
import { WiredChannel } from "./wired-channel.ts";
import { describeWorkspace } from "./workspace-conformance.ts";

describeWorkspace("ClientWorkspace over the headless editor", async () => {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "gennai-held-")));
  const paths = ["ws", "outside", "client-state", "server-state"].map((name) => join(top, name));
  const [directory, outside, clientState, serverState] = paths as [string, string, string, string];
  for (const path of paths) mkdirSync(path, { mode: 0o700 });
  const held = new DiskWorkspace({
    root: directory,
    id: "0123456789abcdef",
    stateDir: clientState,
    ownDirectories: [clientState],
    environment: {},
  });
  const blobs = new FileBlobStore(join(serverState, "blobs"));
  mkdirSync(join(serverState, "blobs"));
  const channel = new WiredChannel(held, blobs);
  const workspaces = openClientWorkspaces({ stateDir: serverState, blobs, now: () => performance.now() });
  return {
    workspace: workspaces.open(held.facts, { sessionId: "s", user: "", channel }),
    directory,
    outside,
    async [Symbol.asyncDispose]() {
      rmSync(top, { recursive: true, force: true });
    },
  };
});
