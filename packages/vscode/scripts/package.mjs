// Makes the VSIX: node scripts/package.mjs [directory to put it in]. All code is bundled, so that no dependency goes into it.
import { copyFileSync, cpSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createVSIX } from "@vscode/vsce";
import { buildExtension } from "./build.mjs";

const root = join(import.meta.dirname, "..");
const { name, version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const limit = 1024 * 1024;

await buildExtension({ production: true });
copyFileSync(join(root, "..", "..", "LICENSE"), join(root, "LICENSE"));
const readmePath = packagedReadme();
const packagePath = join(resolve(process.argv[2] ?? root), `${name}-${version}.vsix`);
await createVSIX({
  cwd: root,
  packagePath,
  dependencies: false,
  allowMissingRepository: true,
  rewriteRelativeLinks: false,
  readmePath,
});
const { size } = statSync(packagePath);
console.log(`${packagePath}  ${Math.round(size / 1024)} KB`);
if (size > limit) {
  console.error("The VSIX is larger than 1 MB.");
  process.exitCode = 1;
}

/** The pictures of the documentation go along, so that the README shows them wherever it is read. Gives its path in the package. */
function packagedReadme() {
  const pictures = join(root, "..", "..", "docs", "pictures");
  for (const picture of readdirSync(pictures).filter((file) => /^vscode-.*\.png$/.test(file))) {
    cpSync(join(pictures, picture), join(root, "dist", "pictures", picture));
  }
  const text = readFileSync(join(root, "README.md"), "utf8");
  writeFileSync(join(root, "dist", "README.md"), text.replaceAll("../../docs/pictures/", "dist/pictures/"));
  return "dist/README.md";
}
