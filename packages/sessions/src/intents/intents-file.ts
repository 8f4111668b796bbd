import { type BigIntStats, statSync } from "node:fs";
import { join } from "node:path";
import { everything, type IgnoredPaths, ignoredPaths } from "@gennai/governance/intents/ignored-paths";
import { type ParsedIntents, parseIntents } from "@gennai/governance/intents/parse-intents";
import { parseStrictYaml, YamlError } from "@gennai/machine/config/strict-yaml";
import { systemErrorCode } from "@gennai/machine/system-error";
import { readControlFile, UnreadableFile } from "@gennai/machine/workspace/files/read-control-file";
import { sha256Hex } from "@gennai/protocol/digest";

/** Relative to the workspace. */
export const intentsFile = ".orchestration/active_intents.yaml";
export const intentIgnoreFile = ".intentignore";

export const maxIntentsBytes = 512 * 1024;
const maxIgnoreBytes = 128 * 1024;

export type IntentsFileRead =
  | { readonly type: "missing" }
  | {
      readonly type: "read";
      readonly parsed: ParsedIntents;
      /** SHA-256 of the text. */
      readonly sha256: string;
    }
  /** The file exists but has no valid content. */
  | { readonly type: "broken"; readonly problem: string };

/** @param root real path of the workspace */
export async function readIntentsFile(root: string): Promise<IntentsFileRead> {
  const text = await textOf(root, intentsFile, maxIntentsBytes);
  if (text.type !== "text") return text;
  try {
    const yaml = parseStrictYaml(text.text, intentsFile);
    const parsed = parseIntents(yaml.data, { file: intentsFile, lineOf: yaml.lineOf });
    return { type: "read", parsed, sha256: sha256Hex(text.text) };
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    const quote = /tag|alias/i.test(error.message) ? " Put quotes around entries that begin with ! or *." : "";
    return { type: "broken", problem: `${error.message}.${quote}` };
  }
}

/** What no intent may edit. If the file exists but cannot be read, everything counts as ignored. */
export async function readIntentIgnore(root: string): Promise<IgnoredPaths> {
  const text = await textOf(root, intentIgnoreFile, maxIgnoreBytes);
  switch (text.type) {
    case "missing":
      return { has: () => false, problem: "" };
    case "broken":
      return everything(text.problem);
    case "text": {
      const paths = ignoredPaths(text.text);
      return paths.problem === "" ? paths : everything(`${intentIgnoreFile}: ${paths.problem}`);
    }
  }
}

/** Changes when the file changes; `missing` if it does not exist. */
export function fileStamp(root: string, file: string): string {
  let found: BigIntStats | undefined;
  try {
    found = statSync(join(root, file), { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    const code = systemErrorCode(error) ?? "unknown";
    return code === "ENOENT" || code === "ENOTDIR" ? "missing" : code;
  }
  if (found === undefined) return "missing";
  return [found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs].join(":");
}

async function textOf(
  root: string,
  file: string,
  maxBytes: number,
): Promise<{ readonly type: "text"; readonly text: string } | Exclude<IntentsFileRead, { readonly type: "read" }>> {
  try {
    return { type: "text", text: await readControlFile(root, file, maxBytes) };
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return { type: "missing" };
    if (error instanceof UnreadableFile) return { type: "broken", problem: error.message };
    return { type: "broken", problem: `${file}: cannot be read (${code ?? "unknown error"}); check its permissions` };
  }
}
