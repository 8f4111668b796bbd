import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import type { CompiledRules } from "@gennai/governance/rules/compile/compile-rules";
import { floorRulesYaml } from "@gennai/governance/rules/floor-rules";
import { digestOf, sha256Hex } from "@gennai/protocol/digest";
import { ruleFilePaths, ruleFileStamp } from "@gennai/sessions/rules/read-rule-file";

/**
 * What rules a workspace is under, whatever its path is: SHA-256 over the floor, the user's and the project's files as they
 * stand, and what is in force of them, which is something else where a file broke or vanished. A warning is about the
 * place, as that a rule covers all of this workspace, and says nothing of the rules.
 */
export async function rulesDigest(
  place: { readonly root: string; readonly home: string },
  inForce: CompiledRules,
): Promise<string> {
  const texts = await Promise.all(
    ruleFilePaths(place).map(async (at) => {
      const bytes = ruleFileStamp(at) === "" ? undefined : await readFile(at.path).catch(() => undefined);
      return { name: `${at.layer}/${basename(at.path)}`, sha256: bytes === undefined ? "" : sha256Hex(bytes) };
    }),
  );
  return digestOf({ floor: sha256Hex(floorRulesYaml), texts, inForce: inForce.contentSha256 });
}
