import { ToolFailure } from "@gennai/governance/tool-error";
import type { ClientHead, ControlFile } from "../bridge/workspace-answer.ts";

const encoder = new TextEncoder();

/**
 * A client's repository state as the few files that `readGitHead` and `hooksDirectory` read. There is always a `.git`, so that
 * no one is searched in the server's parent directories. Throws `client_error`.
 */
export function gitFiles(git: ClientHead | undefined): readonly ControlFile[] {
  if (git === undefined) return [file(".git/none", "")];
  const { branch, commit, remoteDefault, hooksPath } = git;
  if (commit !== "" && !objectId.test(commit)) throw impossible("a commit");
  for (const name of [branch, remoteDefault]) if (name !== "" && !isBranchName(name)) throw impossible("a branch");
  if (/[\p{Cc}"]/u.test(hooksPath)) throw impossible("the directory of hooks");
  const head = branch === "" ? commit : `ref: refs/heads/${branch}`;
  return [
    file(".git/HEAD", head),
    ...(branch === "" || commit === "" ? [] : [file(`.git/refs/heads/${branch}`, commit)]),
    ...(remoteDefault === ""
      ? []
      : [file(".git/refs/remotes/origin/HEAD", `ref: refs/remotes/origin/${remoteDefault}`)]),
    ...(hooksPath === ""
      ? []
      : [file(".git/config", `[core]\n\thooksPath = "${hooksPath.replaceAll("\\", "\\\\")}"\n`)]),
  ];
}

const objectId = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** A valid branch name for git whose path is below `refs/heads`. */
function isBranchName(name: string): boolean {
  const forbidden = /\.\.|\/\/|[\p{Cc}\s~^:?*[\\]|^[-/.]|[/.]$|\.lock(?:\/|$)|\/\.|@\{/u;
  return name.length <= 250 && !forbidden.test(name);
}

function file(path: string, text: string): ControlFile {
  return { path, bytes: encoder.encode(text), problem: "" };
}

function impossible(what: string): ToolFailure {
  return new ToolFailure("client_error", `The client that holds the files named ${what} that cannot be.`);
}
