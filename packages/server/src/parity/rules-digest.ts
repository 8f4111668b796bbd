import { readFile } from "node:fs/promises";
import { floorRulesYaml } from "@gennai/governance/rules/floor-rules";
import type { RulesStatus } from "@gennai/governance/rules/rules-status";
import { digestOf, sha256Hex } from "@gennai/protocol/digest";
import { projectRulesPaths, userRulesPath } from "../rules/read-rule-file.ts";

/**
 * What rules a workspace is under, whatever its path is: SHA-256 over the floor, the user's and the project's files as they
 * stand, and how many of them are in force and broken.
 */
export async function rulesDigest(
  place: { readonly root: string; readonly home: string },
  status: RulesStatus,
): Promise<string> {
  const files = [
    { name: "user", path: userRulesPath(place).path },
    ...projectRulesPaths(place.root).map(({ name, path }) => ({ name, path })),
  ];
  const texts = await Promise.all(
    files.map(async ({ name, path }) => {
      const bytes = await readFile(path).catch(() => undefined);
      return { name, sha256: bytes === undefined ? "" : sha256Hex(bytes) };
    }),
  );
  const { count, problems } = status;
  return digestOf({ floor: sha256Hex(floorRulesYaml), texts, count, broken: problems.length });
}
