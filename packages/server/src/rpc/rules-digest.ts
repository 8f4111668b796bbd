import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import type { CompiledRules } from "@gennai/governance/rules/compile/compile-rules";
import { floorRulesYaml } from "@gennai/governance/rules/floor-rules";
import { digestOf, sha256Hex } from "@gennai/protocol/digest";
import { ruleFilePaths, ruleFileStamp } from "@gennai/sessions/rules/read-rule-file";

/**
 * Digest of a workspace's rules, independent of its path: SHA-256 over the floor, the user's and the project's files, and the
 * rules in force, which differ if a file became invalid or disappeared. Warnings are excluded: they concern the place, not the
 * rules.
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
