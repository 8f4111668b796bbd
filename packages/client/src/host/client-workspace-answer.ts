import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { digestOf, sha256Hex } from "@gennai/protocol/digest";
import {
  type ClientWorkspace,
  ClientWorkspaceSchema,
  type WorkspaceRequest,
  type WorkspaceResponseSchema,
} from "@gennai/protocol/gen/gennai/agent/v1/workspace_pb";
import { failureClassWords } from "@gennai/protocol/model/governance/tool-outcome";
import {
  type ClientCommandRun,
  type ClientControl,
  type ClientFileChange,
  ClientWorkspaceError,
  type ClientWorkspaceFacts,
  commandPlaceWords,
  outputEncodingWords,
  pathKindWords,
  programEndWords,
  searchOutputWords,
} from "@gennai/protocol/model/session/client-workspace";
import type { ClientWorkspacePort } from "../connection/client-workspace-port.ts";
import type { CallOptions } from "../connection/connection.ts";
import type { CommandOptions } from "../connection/editor.ts";

type Result = NonNullable<MessageInitShape<typeof WorkspaceResponseSchema>["result"]>;

/** The content behind a digest, from the server. */
export type FetchContent = (sha256: string, options: CallOptions) => Promise<Uint8Array>;

/** Carries out a server's request for the files held here. Every path is checked before the workspace sees it. */
export async function answerWorkspaceRequest(
  workspace: ClientWorkspacePort,
  { operation }: WorkspaceRequest,
  options: CommandOptions & { readonly fetchContent: FetchContent },
): Promise<Result> {
  const { signal } = options;
  switch (operation.case) {
    case "resolvePath":
      return { case: "resolvedPath", value: await workspace.resolve(operation.value.raw, { signal }) };
    case "statPath": {
      const found = await workspace.stat(checkHeldPath(operation.value.path), { signal });
      if (found === undefined) return { case: "pathStat", value: {} };
      const value = { ...found, kind: pathKindWords.toMessage(found.kind), size: BigInt(found.size) };
      return { case: "pathStat", value };
    }
    case "readContent": {
      const { path, maxBytes, offset, length } = operation.value;
      const read = await workspace.read(checkHeldPath(path), { signal, maxBytes: Number(maxBytes) });
      const from = Number(offset);
      const content = read.bytes.subarray(from, from + Math.min(length, maxPart));
      return { case: "contentRead", value: { content, sha256: read.sha256, size: BigInt(read.bytes.length) } };
    }
    case "listNames": {
      const { path, ignore, limit } = operation.value;
      const { entries, truncated } = await workspace.list(checkHeldPath(path), { signal, ignore, limit });
      const named = entries.map(({ name, kind }) => ({ name, kind: pathKindWords.toMessage(kind) }));
      return { case: "namesListed", value: { entries: named, truncated } };
    }
    case "findFiles": {
      const { pattern, base, limit, exclude } = operation.value;
      const request = { pattern, base: checkHeldPath(base), limit, exclude };
      const { paths, truncated } = await workspace.find(request, { signal });
      return { case: "filesFound", value: { paths: [...paths], truncated } };
    }
    case "searchFiles": {
      const { $typeName: _, output, base, ...query } = operation.value;
      const wanted = searchOutputWords.fromMessage(output) ?? "content";
      const request = { ...query, base: checkHeldPath(base), output: wanted };
      const { lines, truncated } = await workspace.search(request, { signal });
      return { case: "searchResult", value: { lines: [...lines], truncated } };
    }
    case "changeFiles": {
      const { changes, branch } = operation.value;
      const wanted = await Promise.all(
        changes.map(async ({ path, contentSha256, baseSha256, mode, emptied }): Promise<ClientFileChange> => {
          checkChangeablePath(path);
          for (const directory of emptied) checkChangeablePath(directory);
          const bytes = contentSha256 === "" ? undefined : await fetched(contentSha256, options);
          return { path, bytes, baseSha256, mode, emptied };
        }),
      );
      signal.throwIfAborted();
      const changed = await workspace.change({ changes: wanted, branch }, { signal });
      return {
        case: "filesChanged",
        value: {
          files: changed.map(({ beforeSha256, afterSha256, beforeMode, madeDirectories }) => ({
            beforeSha256: beforeSha256 ?? "",
            afterSha256: afterSha256 ?? "",
            ...(beforeMode === undefined ? {} : { beforeMode }),
            madeDirectories: [...madeDirectories],
          })),
        },
      };
    }
    case "readControl": {
      const { files, directories, knownDigest } = operation.value;
      for (const path of [...files, ...directories]) checkHeldPath(path);
      const control = await workspace.readControl({ files, directories }, { signal });
      return { case: "controlRead", value: controlFields(control, knownDigest) };
    }
    case "runProgram": {
      if (workspace.run === undefined) {
        throw new ClientWorkspaceError("tool_unavailable", "No commands run where these files are.", {
          failureClass: "tool_unavailable",
        });
      }
      const { command, cwd, timeoutMs, readsOnly } = operation.value;
      const run = await workspace.run({ command, cwd: checkHeldPath(cwd), timeoutMs, readsOnly }, options);
      return { case: "programRun", value: runFields(run) };
    }
    default:
      throw new ClientWorkspaceError(
        "client_error",
        "This client is older than the server, and does not know what it asks.",
        {
          hint: "Update it.",
        },
      );
  }
}

/** Why it was not done. Text of unexpected errors stays here: it may name files outside the workspace. */
export function workspaceFailure(error: unknown): Result {
  const known = error instanceof ClientWorkspaceError;
  const { code, message, hint, failureClass, retryable } = known
    ? error
    : new ClientWorkspaceError("client_error", "The client that holds the files failed unexpectedly.", {
        cause: error,
      });
  return {
    case: "failure",
    value: { code, message, hint, failureClass: failureClassWords.toMessage(failureClass), retryable },
  };
}

/** The fields of a `ClientWorkspace` message. */
export function workspaceFactsFields(facts: ClientWorkspaceFacts) {
  return { ...facts, commands: commandPlaceWords.toMessage(facts.commands) };
}

export function clientWorkspaceMessage(facts: ClientWorkspaceFacts): ClientWorkspace {
  return create(ClientWorkspaceSchema, workspaceFactsFields(facts));
}

/** Bytes of a file in one answer. */
const maxPart = 8 * 1024 * 1024;

async function fetched(
  sha256: string,
  { fetchContent, signal }: { readonly fetchContent: FetchContent; readonly signal: AbortSignal },
): Promise<Uint8Array> {
  const bytes = await fetchContent(sha256, { signal });
  if (sha256Hex(bytes) === sha256) return bytes;
  throw new ClientWorkspaceError("client_error", "The server sent another content than it named.");
}

function controlFields({ files, git }: ClientControl, knownDigest: string) {
  const digest = digestOf([files.map(({ path, bytes, problem }) => [path, sha256Hex(bytes), problem]), git ?? null]);
  if (digest === knownDigest) return { unchanged: true, digest };
  return {
    digest,
    files: files.map(({ path, bytes, problem }) => ({ path, content: bytes, problem })),
    git: git === undefined ? {} : { repository: true, ...git },
  };
}

function runFields({ end, encoding, exitCode, leftOut, survivors, notes, ...run }: ClientCommandRun) {
  return {
    ...run,
    end: programEndWords.toMessage(end),
    encoding: outputEncodingWords.toMessage(encoding),
    leftOut: BigInt(leftOut),
    survivors: [...survivors],
    notes: [...notes],
    ...(exitCode === undefined ? {} : { exitCode }),
  };
}

/**
 * A path as a server may name it: relative to the root and normal, so that nothing in it leads up, elsewhere, or into git's
 * own files by another name. Throws `ClientWorkspaceError` (`bad_path`, `outside_workspace`).
 */
function checkHeldPath(path: string): string {
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
function checkChangeablePath(path: string): string {
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
