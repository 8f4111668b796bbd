import { ToolFailure } from "@gennai/governance/tool-error";
import { expect, test } from "vitest";
import { fileFailure } from "#workspace/files/file-failure";

test.each([
  ["EACCES", "permission_denied", "permission_denied", false],
  ["EPERM", "permission_denied", "permission_denied", false],
  ["EROFS", "read_only_file_system", "permission_denied", false],
  ["ENOENT", "not_found", "command_error", false],
  ["ENOTDIR", "bad_path", "command_error", false],
  ["ENAMETOOLONG", "bad_path", "command_error", false],
  ["ELOOP", "path_changed", "permission_denied", true],
  ["EISDIR", "not_a_file", "command_error", false],
  ["ENXIO", "not_a_file", "command_error", false],
  ["EMFILE", "too_many_open_files", "tool_unavailable", true],
  ["ENFILE", "too_many_open_files", "tool_unavailable", true],
  ["ENOSPC", "no_space", "command_error", false],
  ["EDQUOT", "no_space", "command_error", false],
  ["EBUSY", "file_busy", "command_error", true],
  ["EIO", "io_error", "command_error", false],
])("%s is %s", (errno, code, failureClass, retryable) => {
  const cause = Object.assign(new Error("said the system"), { code: errno });
  const failure = fileFailure(cause, "read", "src/a.ts");
  expect(failure).toBeInstanceOf(ToolFailure);
  expect(failure).toMatchObject({ code, failureClass, retryable, cause });
  expect(failure.message).toMatch(/^Cannot read src\/a\.ts: /);
});

test("tool failures, aborts and bugs pass as they are", () => {
  for (const error of [
    new ToolFailure("io_error", "y"),
    new DOMException("stop", "AbortError"),
    new TypeError("bug"),
  ]) {
    expect(fileFailure(error, "read", "x")).toBe(error);
  }
});
