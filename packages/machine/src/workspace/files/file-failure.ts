import { ToolFailure } from "@gennai/governance/tool-error";
import type { ErrorCode } from "@gennai/protocol/errors/error-code";
import type { FailureClass } from "@gennai/protocol/model/governance/tool-outcome";
import { systemErrorCode } from "../../system-error.ts";

/**
 * Turns a file system error into a failure of a tool. Returns `ToolFailure`s and errors without a system code (bugs) unchanged,
 * so that any `catch` can use it.
 *
 * @param action what was tried, e.g. `read`
 * @param path as users know it, e.g. relative to the workspace
 */
export function fileFailure(error: unknown, action: string, path: string): Error {
  if (error instanceof ToolFailure) return error;
  const code = systemErrorCode(error);
  if (code === undefined) return error instanceof Error ? error : new Error(String(error));
  const meaning: Meaning = meanings[code] ?? { code: "io_error", says: `the file system says ${code}` };
  return new ToolFailure(
    meaning.code,
    `Cannot ${action} ${path === "" ? "the workspace root" : path}: ${meaning.says}.`,
    {
      failureClass: meaning.failureClass ?? "command_error",
      retryable: meaning.retryable ?? false,
      cause: error,
      hint: meaning.hint,
    },
  );
}

interface Meaning {
  readonly code: ErrorCode;
  readonly says: string;
  readonly failureClass?: FailureClass;
  readonly hint?: string;
  readonly retryable?: boolean;
}

const permissionDenied: Meaning = {
  code: "permission_denied",
  says: "permission denied",
  failureClass: "permission_denied",
  hint: "The user that runs the server is not allowed to do this. Leave the file alone or ask the user to change its permissions.",
};
const noSpace: Meaning = {
  code: "no_space",
  says: "the disk or quota is full; nothing was written",
  hint: "Ask the user to free some space.",
};
const tooManyOpenFiles: Meaning = {
  code: "too_many_open_files",
  says: "too many files are open",
  failureClass: "tool_unavailable",
  retryable: true,
};
const busy: Meaning = { code: "file_busy", says: "another process holds it", retryable: true };
const notAFile: Meaning = { code: "not_a_file", says: "it is not a regular file" };
const badPath: Meaning = { code: "bad_path", says: "the name is too long" };

const meanings: Readonly<Record<string, Meaning | undefined>> = {
  EACCES: permissionDenied,
  EPERM: permissionDenied,
  EROFS: {
    code: "read_only_file_system",
    says: "the file system is read-only; nothing was written",
    failureClass: "permission_denied",
  },
  ENOENT: { code: "not_found", says: "nothing is there" },
  ENOTDIR: { code: "bad_path", says: "a part of the path is not a directory" },
  ENAMETOOLONG: badPath,
  EINVAL: { ...badPath, says: "the file system does not take this name" },
  ELOOP: {
    code: "path_changed",
    says: "a symbolic link stands where none was when the path was resolved",
    failureClass: "permission_denied",
    retryable: true,
  },
  EISDIR: { ...notAFile, says: "it is a directory" },
  ENXIO: notAFile,
  EMFILE: tooManyOpenFiles,
  ENFILE: tooManyOpenFiles,
  ENOSPC: noSpace,
  EDQUOT: noSpace,
  EFBIG: { code: "too_large", says: "the file would be larger than the file system allows" },
  EBUSY: busy,
  ETXTBSY: busy,
};
