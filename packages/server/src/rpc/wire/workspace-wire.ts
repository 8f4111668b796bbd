import type { MessageInitShape } from "@bufbuild/protobuf";
import type { WorkspaceOperation } from "@gennai/agent/events/workspace-operation";
import { ToolFailure } from "@gennai/governance/tool-error";
import type { CommandRun } from "@gennai/machine/process/run-command";
import { ServiceError } from "@gennai/machine/service-error";
import type { ErrorCode } from "@gennai/protocol/errors/error-code";
import { gateErrors } from "@gennai/protocol/errors/gate-errors";
import { toolErrors } from "@gennai/protocol/errors/tool-errors";
import {
  type ClientWorkspace,
  CommandPlace,
  type ControlRead,
  PathKind,
  type ProgramRun,
  type WorkspaceFailure,
  type WorkspaceRequestSchema,
  type WorkspaceResponse,
} from "@gennai/protocol/gen/gennai/agent/v1/workspace_pb";
import { isWithin } from "@gennai/protocol/is-within";
import { digest, optionalDigest } from "@gennai/protocol/model/checked-field";
import { failureClassWords } from "@gennai/protocol/model/governance/tool-outcome";
import {
  type ClientWorkspaceFacts,
  commandPlaceWords,
  outputEncodingWords,
  pathKindWords,
  programEndWords,
  searchOutputWords,
} from "@gennai/protocol/model/session/client-workspace";
import type { ControlSnapshot, WorkspaceAnswer } from "@gennai/sessions/bridge/workspace-answer";
import { isNormal } from "@gennai/sessions/client-workspace/check-resolved";

type WireOperation = NonNullable<MessageInitShape<typeof WorkspaceRequestSchema>["operation"]>;

export function operationToWire(operation: WorkspaceOperation): WireOperation {
  switch (operation.type) {
    case "resolve":
      return { case: "resolvePath", value: { raw: operation.raw } };
    case "stat":
      return { case: "statPath", value: { path: operation.path } };
    case "read": {
      const { path, maxBytes, offset, length } = operation;
      return { case: "readContent", value: { path, maxBytes: BigInt(maxBytes), offset: BigInt(offset), length } };
    }
    case "list": {
      const { path, ignore, limit } = operation;
      return { case: "listNames", value: { path, ignore: [...ignore], limit } };
    }
    case "find": {
      const { type: _, exclude, ...query } = operation;
      return { case: "findFiles", value: { ...query, exclude: [...exclude] } };
    }
    case "search": {
      const { type: _, output, exclude, ...query } = operation;
      const value = { ...query, output: searchOutputWords.toMessage(output), exclude: [...exclude] };
      return { case: "searchFiles", value };
    }
    case "change": {
      const changes = operation.changes.map(({ mode, emptied, ...change }) => ({
        ...change,
        emptied: [...emptied],
        ...(mode === undefined ? {} : { mode }),
      }));
      return { case: "changeFiles", value: { changes, branch: operation.branch } };
    }
    case "control": {
      const { files, directories, knownDigest } = operation;
      return { case: "readControl", value: { files: [...files], directories: [...directories], knownDigest } };
    }
    case "run": {
      const { type: _, ...command } = operation;
      return { case: "runProgram", value: command };
    }
  }
}

/** A client's answer; invalid fields are refused, so that later code can rely on them. */
export function workspaceAnswerFromWire(result: WorkspaceResponse["result"]): WorkspaceAnswer {
  switch (result.case) {
    case "resolvedPath": {
      const { relative, absolute, inside } = result.value;
      return { type: "resolve", relative, absolute, inside };
    }
    case "pathStat": {
      const { kind, size, mode } = result.value;
      const known = kind === PathKind.UNSPECIFIED ? undefined : entryKind(kind);
      return { type: "stat", kind: known === "link" ? "other" : known, size: count(size), mode: mode & 0o7777 };
    }
    case "contentRead": {
      const { content, sha256, size } = result.value;
      return { type: "read", bytes: content, sha256: digest(sha256), size: count(size) };
    }
    case "namesListed": {
      const { entries, truncated } = result.value;
      return { type: "list", entries: entries.map(({ name, kind }) => ({ name, kind: entryKind(kind) })), truncated };
    }
    case "filesFound": {
      const { paths, truncated } = result.value;
      const all = paths.every((path) => isNormal(`/${path}`) && !/\p{Cc}/u.test(path));
      if (!all) throw new ServiceError("invalid_argument", "paths are relative to the workspace.");
      return { type: "find", paths, truncated };
    }
    case "searchResult": {
      const { lines, truncated } = result.value;
      return { type: "search", lines, truncated };
    }
    case "filesChanged":
      return {
        type: "change",
        files: result.value.files.map(({ beforeSha256, afterSha256, beforeMode, madeDirectories }) => ({
          beforeSha256: optionalDigest(beforeSha256),
          afterSha256: optionalDigest(afterSha256),
          beforeMode,
          madeDirectories,
        })),
      };
    case "controlRead":
      return { type: "control", control: result.value.unchanged ? "unchanged" : control(result.value) };
    case "programRun":
      return { type: "run", run: commandRun(result.value), notes: result.value.notes };
    case "failure":
      return { type: "failure", failure: failure(result.value) };
    case undefined:
      throw new ServiceError("invalid_argument", "The answer is empty, or of a kind this server does not know.");
  }
}

/** Throws `ServiceError` `invalid_argument`. */
export function clientWorkspaceFromWire(message: ClientWorkspace): ClientWorkspaceFacts {
  const { id, name, root, home, platform, commands } = message;
  if (!/^[\w.-]{16,128}$/.test(id)) {
    throw new ServiceError(
      "invalid_argument",
      "client_workspace.id has 16 to 128 letters, digits, dots, hyphens and underscores.",
    );
  }
  for (const [field, path] of Object.entries({ root, home })) {
    if (isNormal(path) && path !== "/" && path.length <= 4096 && !/\p{Cc}/u.test(path)) continue;
    throw new ServiceError("invalid_argument", `client_workspace.${field} must be an absolute path with slashes.`);
  }
  if (isWithin(home, { directory: root })) {
    throw new ServiceError("invalid_argument", "client_workspace.root holds the home directory.", {
      reason: "workspace_too_broad",
      hint: "Choose the directory of one project.",
    });
  }
  if (name.length > 200 || platform.length > 40) {
    throw new ServiceError("invalid_argument", "client_workspace.name or platform is too long.");
  }
  // Of clients before 0.3; what their sandbox holds back is not known here.
  const place = commands === CommandPlace.SANDBOXED ? CommandPlace.UNSANDBOXED : commands;
  return { id, name, root, home, platform, commands: commandPlaceWords.fromMessage(place) ?? "none" };
}

function entryKind(kind: PathKind) {
  return pathKindWords.checkedFromMessage(kind, "kind");
}

function control({ digest: told, files, git }: ControlRead): ControlSnapshot {
  const { repository = false, branch = "", commit = "", remoteDefault = "", hooksPath = "" } = git ?? {};
  return {
    digest: digest(told),
    files: files.map(({ path, content, problem }) => ({ path, bytes: content, problem })),
    git: repository ? { branch, commit, remoteDefault, hooksPath } : undefined,
  };
}

function commandRun(run: ProgramRun): CommandRun {
  return {
    state: programEndWords.checkedFromMessage(run.end, "end"),
    ...(run.exceeded === "" ? {} : { exceeded: run.exceeded }),
    exitCode: run.exitCode,
    signal: run.signal === "" ? undefined : run.signal,
    output: run.output,
    encoding: outputEncodingWords.checkedFromMessage(run.encoding, "encoding"),
    outputSha256: digest(run.outputSha256),
    leftOut: count(run.leftOut),
    survivors: run.survivors,
  };
}

const maxText = 4_000;

function failure({ code, message, hint, failureClass, retryable }: WorkspaceFailure): ToolFailure {
  return new ToolFailure(isErrorCode(code) ? code : "client_error", message.slice(0, maxText) || "It gave no reason.", {
    failureClass: failureClassWords.fromMessage(failureClass) ?? "command_error",
    retryable,
    ...(hint === "" ? {} : { hint: hint.slice(0, maxText) }),
  });
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(toolErrors, code) || Object.hasOwn(gateErrors, code);
}

function count(value: bigint): number {
  if (value <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(value);
  throw new ServiceError("invalid_argument", "A size is larger than any file.");
}
