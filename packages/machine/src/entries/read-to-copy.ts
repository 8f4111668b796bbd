import { isUtf8 } from "node:buffer";
import { readdirSync, readlinkSync } from "node:fs";
import { ToolFailure } from "@gennai/governance/tool-error";
import { systemErrorCode } from "../system-error.ts";

/** Names in a directory that are UTF-8. */
export function namesIn(directory: string): readonly string[] {
  return namesThat(directory, (name) => isUtf8(name));
}

/** Names in a directory that are not UTF-8, with U+FFFD. */
export function unnamedIn(directory: string): readonly string[] {
  return namesThat(directory, (name) => !isUtf8(name));
}

function namesThat(directory: string, are: (name: Buffer) => boolean): readonly string[] {
  try {
    return readdirSync(directory, { encoding: "buffer" })
      .filter((name) => are(name))
      .map(String);
  } catch (error) {
    if (wentAway(error)) return [];
    throw error;
  }
}

/** Target of a link, as bytes, because it need not be UTF-8. Undefined if the path is no link any more. */
export function targetOf(path: string): Buffer | undefined {
  try {
    return readlinkSync(path, { encoding: "buffer" });
  } catch (error) {
    if (wentAway(error) || systemErrorCode(error) === "EINVAL") return undefined;
    throw error;
  }
}

/** True if the entry was removed or replaced since it was listed: that counts as changed meanwhile. */
export function wentAway(error: unknown): boolean {
  if (error instanceof ToolFailure) return error.code === "path_changed";
  return ["ENOENT", "ENOTDIR", "ELOOP", "ENXIO", "ESTALE"].includes(systemErrorCode(error) ?? "");
}

/** True if the entry may not be looked at. */
export function isClosed(error: unknown): boolean {
  return ["EACCES", "EPERM"].includes(systemErrorCode(error) ?? "");
}
