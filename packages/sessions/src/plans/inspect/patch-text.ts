import { errorMessage } from "@gennai/protocol/error-message";
import { applyPatch, parsePatch, type StructuredPatch } from "diff";

export type PatchResult =
  | { readonly type: "text"; readonly text: string }
  /** The patch does not fit, in one sentence. */
  | { readonly type: "conflict"; readonly reason: string };

/**
 * Applies a unified diff to this one file. Context must match exactly.
 * @param old undefined if there is no file; then only a patch from `/dev/null` fits
 * @param path relative to the workspace; must match the patch's headers, if they name a file
 */
export function patchText(old: string | undefined, patch: string, path: string): PatchResult {
  let files: StructuredPatch[];
  try {
    files = parsePatch(patch);
  } catch (error) {
    return conflict(`The patch is not a unified diff: ${errorMessage(error)}.`);
  }
  const [file, ...others] = files;
  if (file === undefined || others.length > 0) return conflict("The patch must be for exactly one file.");
  if (file.hunks.length === 0) return conflict("The patch holds no hunk.");
  for (const name of [file.oldFileName, file.newFileName]) {
    if (name === undefined || name === "/dev/null" || name === "") continue;
    if (name !== path && name.replace(/^[ab]\//, "") !== path.replace(/^\.\//, "")) {
      return conflict(`The patch is for ${JSON.stringify(name)}, not for ${JSON.stringify(path)}.`);
    }
  }
  if (file.newFileName === "/dev/null") return conflict("A patch cannot delete its file here: use a command.");
  const creates = file.oldFileName === "/dev/null";
  if (old === undefined && !creates) return conflict(`There is no file ${path} that the patch could change.`);
  if (old !== undefined && creates) return conflict(`The patch creates ${path}, which exists.`);
  const text = applyPatch(old ?? "", file, { fuzzFactor: 0, autoConvertLineEndings: true });
  return text === false ? conflict(`The patch does not fit the present text of ${path}.`) : { type: "text", text };
}

function conflict(reason: string): PatchResult {
  return { type: "conflict", reason };
}
