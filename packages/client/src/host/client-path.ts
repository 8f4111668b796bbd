import { ClientWorkspaceError } from "@gennai/protocol/model/session/client-workspace";

/**
 * A path as a server may name it: relative to the root and normal, so that nothing in it leads up, elsewhere, or into git's
 * own files by another name. Throws `ClientWorkspaceError` (`bad_path`, `outside_workspace`).
 */
export function checkHeldPath(path: string): string {
  if (path === "") return path;
  if (path.length > 4096 || invisible.test(path) || path.includes("\\")) {
    throw new ClientWorkspaceError("bad_path", "This is not a path of the workspace.");
  }
  const names = path.split("/");
  const leads = names.some((name) => name === "" || name === "." || name === "..");
  if (leads || /^[a-z]:/i.test(path)) {
    throw new ClientWorkspaceError("outside_workspace", `${path} is not a path below the workspace.`, {
      failureClass: "permission_denied",
    });
  }
  return path;
}

/** The same for a path about to be changed: git's own files are excluded, wherever a repository is. */
export function checkChangeablePath(path: string): string {
  checkHeldPath(path);
  if (path === "") throw new ClientWorkspaceError("not_a_file", "The workspace root is a directory, not a file.");
  if (path.split("/").some((name) => isGitDirectory(name))) {
    throw new ClientWorkspaceError("permission_denied", `${path} belongs to git: this client does not change it.`, {
      failureClass: "permission_denied",
      hint: "Use git itself.",
    });
  }
  return path;
}

/** Whatever a file system may read as `.git`: without regard to case, invisible characters, dots and spaces at the end. */
function isGitDirectory(name: string): boolean {
  const plain = name
    .normalize("NFKC")
    .replaceAll(/[\p{C}\p{Default_Ignorable_Code_Point}]/gu, "")
    .replace(/[\s.]+$/u, "")
    .toLowerCase();
  return plain === ".git" || /^git~\d+$/.test(plain);
}

const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;
