import { isWithin } from "@gennai/protocol/is-within";
import { type ClientPath, ClientWorkspaceError } from "@gennai/protocol/model/session/client-workspace";
import type { FolderFiles } from "./folder-files.ts";

/**
 * Resolves a path that a model wrote. Links are not followed: not every window can know where a link leads, so a path through one
 * is refused. Throws `ClientWorkspaceError` `bad_path`.
 * @param root absolute, with slashes
 */
export async function resolveHeldPath(files: FolderFiles, root: string, raw: string): Promise<ClientPath> {
  const absolute = normalised(raw.startsWith("/") ? raw : `${root}/${raw}`);
  if (!isWithin(absolute, { directory: root })) return { relative: "", absolute, inside: false };
  const relative = absolute === root ? "" : absolute.slice(root.length + 1);
  await refuseLinks(files, relative, raw);
  return { relative, absolute, inside: true };
}

/** Throws `ClientWorkspaceError` if a part of the path is a link, or a file where a directory is needed. */
export async function refuseLinks(files: FolderFiles, relative: string, named = relative): Promise<void> {
  const names = relative === "" ? [] : relative.split("/");
  for (const [index] of names.entries()) {
    const part = names.slice(0, index + 1).join("/");
    const found = await files.stat(part);
    if (found === undefined) return;
    if (found.kind === "link") {
      throw new ClientWorkspaceError("bad_path", `${named}: ${part} is a link, and links are not followed here.`, {
        failureClass: "permission_denied",
        hint: "Name the file itself.",
      });
    }
    if (index < names.length - 1 && found.kind !== "directory") {
      throw new ClientWorkspaceError("bad_path", `${named}: ${part} is a file, nothing can be below it.`);
    }
  }
}

function normalised(path: string): string {
  const names: string[] = [];
  for (const name of path.split("/")) {
    if (name === "..") names.pop();
    else if (name !== "" && name !== ".") names.push(name);
  }
  return `/${names.join("/")}`;
}
