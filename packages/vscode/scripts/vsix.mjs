// Makes the VSIX of a directory that holds a built extension: node scripts/vsix.mjs DIRECTORY VSIX
//
// The same files give the same bytes with SOURCE_DATE_EPOCH and TZ=UTC in the environment.
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { createVSIX } from "@vscode/vsce";

const root = join(import.meta.dirname, "..");
/** Two bundles, one for Node and one for browsers, the web UI, the server, and the licences of others. */
const limit = 15 * 1024 * 1024;

/** Throws when it is larger than the limit. @param {string} directory @param {string} packagePath */
export async function makeVsix(directory, packagePath) {
  await createVSIX({
    cwd: directory,
    packagePath,
    dependencies: false,
    allowMissingRepository: true,
    rewriteRelativeLinks: false,
    readmePath: packagedReadme(directory),
  });
  const { size } = statSync(packagePath);
  if (size > limit) throw new Error(`${packagePath} has ${size} bytes; a VSIX may have ${limit}.`);
  return { size };
}

/**
 * VS Code's page of an extension loads pictures from the web alone, and the package has no address there: it goes without them.
 * Gives its path in the package. @param {string} directory
 */
function packagedReadme(directory) {
  const text = readFileSync(join(root, "README.md"), "utf8");
  const picture = /^!\[[^\]]*\]\(\.\.\/\.\.\/docs\/pictures\/[^)]*\)\n\n?/gm;
  writeFileSync(join(directory, "dist", "README.md"), text.replaceAll(picture, ""));
  return "dist/README.md";
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [directory, packagePath] = process.argv.slice(2);
  if (directory === undefined || packagePath === undefined) throw new Error("Name a directory and the VSIX to write.");
  process.umask(0o022);
  await makeVsix(resolve(directory), resolve(packagePath));
}
