import type {
  ChangedFile,
  ClientCommand,
  ClientCommandRun,
  ClientControl,
  ClientEntry,
  ClientFileChange,
  ClientFileContent,
  ClientFileStat,
  ClientFind,
  ClientPath,
  ClientSearch,
  ClientWorkspaceFacts,
} from "@gennai/protocol/model/session/client-workspace";
import type { CommandOptions, RequestOptions } from "./editor.ts";

/**
 * A workspace whose files this client holds and gives to a session of a server that cannot reach them. It is the last line:
 * whatever a server asks for, nothing outside of the root is read or changed, links are followed nowhere, and git's own files
 * and this program's state stay as they are. Paths are relative to the root, with slashes; empty for the root itself.
 * Expected failures are `ClientWorkspaceError`s; any other error is told to the server as one without its text.
 */
export interface ClientWorkspacePort {
  readonly facts: ClientWorkspaceFacts;

  /** Follows what a model wrote to a real path. A path outside is not a failure, `inside` says it. */
  resolve(raw: string, options: RequestOptions): Promise<ClientPath>;

  /** undefined when nothing is there. Follows no link. */
  stat(path: string, options: RequestOptions): Promise<ClientFileStat | undefined>;

  /** Whole bytes of a regular file, and their SHA-256 in lower-case hex. */
  read(path: string, options: RequestOptions & { readonly maxBytes: number }): Promise<ClientFileContent>;

  list(
    path: string,
    options: RequestOptions & { readonly ignore: readonly string[]; readonly limit: number },
  ): Promise<{ readonly entries: readonly ClientEntry[]; readonly truncated: boolean }>;

  /** Files that match, newest first; git's ignore rules hold. */
  find(
    request: ClientFind,
    options: RequestOptions,
  ): Promise<{ readonly paths: readonly string[]; readonly truncated: boolean }>;

  search(
    request: ClientSearch,
    options: RequestOptions,
  ): Promise<{ readonly lines: readonly string[]; readonly truncated: boolean }>;

  /**
   * Makes all changes or none, each checked against its base. Once started it ignores the signal.
   * @param request.branch the branch HEAD must be on; empty: any
   */
  change(
    request: { readonly changes: readonly ClientFileChange[]; readonly branch: string },
    options: RequestOptions,
  ): Promise<readonly ChangedFile[]>;

  /** The files named, and those below the directories, as far as they are there; sorted by path. */
  readControl(
    request: { readonly files: readonly string[]; readonly directories: readonly string[] },
    options: RequestOptions,
  ): Promise<ClientControl>;

  /** Runs a shell command, without input. Absent where `facts.commands` is `none`. */
  run?(request: ClientCommand, options: CommandOptions): Promise<ClientCommandRun>;
}

/** How lists of sessions name a workspace that a client holds, where others have a path. */
export function heldPlace({ id }: Pick<ClientWorkspaceFacts, "id">): string {
  return `client-workspace:${id}`;
}
