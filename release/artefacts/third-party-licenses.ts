import type { BundledPackage } from "./bundled-packages.ts";

const rule = "=".repeat(80);

/** The licences of what is bundled, packages with the same text together. */
export function thirdPartyLicenses(packages: readonly BundledPackage[]): string {
  const groups = Map.groupBy(packages, ({ licenseTexts }) => licenseTexts.join("\n\n"));
  const parts = [...groups].map(([text, members]) => {
    const list = members.map(({ name, version, license, homepage }) => {
      return `${name} ${version} (${license})${homepage === undefined ? "" : `\n  ${homepage}`}`;
    });
    return `${rule}\n${list.join("\n")}\n${rule}\n\n${text}\n`;
  });
  const heading = `Gennai contains code of ${packages.length} packages of others. Their licences:\n`;
  return [heading, ...parts].join("\n");
}
