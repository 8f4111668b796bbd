import type { ClientControl } from "@gennai/protocol/model/session/client-workspace";
import type { FolderFiles } from "./folder-files.ts";

const maxBytes = 16 * 1024 * 1024;
const objectId = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/**
 * Branch and commit of HEAD, read from git's own small files. undefined if the folder is not the top of a repository, as for a
 * working tree whose git directory is elsewhere.
 */
export async function readGitPlace(files: FolderFiles): Promise<ClientControl["git"]> {
  const head = await text(files, ".git/HEAD");
  if (head === undefined) return undefined;
  const remote = await text(files, ".git/refs/remotes/origin/HEAD");
  const remoteDefault = /^ref: refs\/remotes\/origin\/(\S+)$/.exec(remote ?? "")?.[1] ?? "";
  const hooksPath = await configuredHooks(files);
  if (objectId.test(head)) return { branch: "", commit: head, remoteDefault, hooksPath };
  const branch = /^ref: refs\/heads\/(\S+)$/.exec(head)?.[1];
  if (branch === undefined || branch.split("/").some((name) => name === "" || name.startsWith("."))) return undefined;
  return { branch, commit: await commitOf(files, `refs/heads/${branch}`), remoteDefault, hooksPath };
}

async function commitOf(files: FolderFiles, ref: string): Promise<string> {
  const loose = await text(files, `.git/${ref}`);
  if (loose !== undefined && objectId.test(loose)) return loose;
  const packed = await text(files, ".git/packed-refs");
  const line = packed?.split("\n").find((each) => each.endsWith(` ${ref}`));
  return line === undefined ? "" : line.slice(0, line.indexOf(" "));
}

async function configuredHooks(files: FolderFiles): Promise<string> {
  let section = "";
  let found = "";
  for (const line of ((await text(files, ".git/config")) ?? "").split("\n")) {
    const heading = /^\s*\[\s*([\w.-]+)\s*("?)/.exec(line);
    if (heading !== null) section = heading[2] === "" ? (heading[1] ?? "").toLowerCase() : "";
    const value = section === "core" ? /\bhookspath\s*=\s*(.*?)\s*$/i.exec(line)?.[1] : undefined;
    if (value !== undefined && value !== "") found = value.replace(/^"(.*)"$/, "$1");
  }
  return found;
}

async function text(files: FolderFiles, path: string): Promise<string | undefined> {
  const found = await files.stat(path);
  if (found?.kind !== "file" || found.size > maxBytes) return undefined;
  return new TextDecoder().decode(await files.read(path)).trim();
}
