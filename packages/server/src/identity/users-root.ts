import { existsSync, mkdirSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { readHostLayout } from "@gennai/machine/host/host-layout";
import { WorkspaceError } from "@gennai/machine/workspace/paths/workspace-error";
import { isWithin } from "@gennai/protocol/is-within";

/**
 * Real path of the directory under which users have theirs, made if it is missing. Throws `WorkspaceError` for one where a
 * command of one user would see files of another user, or of the server.
 */
export function openUsersRoot(
  directory: string,
  server: {
    readonly stateDir: string;
    readonly configDir: string;
    readonly environment: Readonly<Record<string, string>>;
  },
): string {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const root = realpathSync(directory);
  const overlapping = [server.stateDir, server.configDir].find(
    (own) => isWithin(own, { directory: root }) || isWithin(root, { directory: own }),
  );
  if (overlapping !== undefined) throw refused(root, `it overlaps with the server's own directory ${overlapping}`);
  const { environment } = server;
  const { readable } = readHostLayout({ home: homedir(), environment, privateDirectories: [] });
  const shown = readable.find((path) => isWithin(root, { directory: path }));
  if (shown !== undefined) throw refused(root, `every command may read ${shown}`);
  for (let above = root; ; above = dirname(above)) {
    if (existsSync(join(above, ".git")))
      throw refused(root, `${above} is a repository, which commands in it may read whole`);
    if (dirname(above) === above) return root;
  }
}

function refused(root: string, why: string): WorkspaceError {
  return new WorkspaceError(
    "workspace_too_broad",
    `${root} cannot hold the users' workspaces: ${why}. Choose another one.`,
  );
}
