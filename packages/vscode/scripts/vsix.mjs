// Makes the VSIX of a directory that holds a built extension: node scripts/vsix.mjs DIRECTORY VSIX
//
// The same files give the same bytes with SOURCE_DATE_EPOCH and TZ=UTC in the environment.
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { createVSIX } from "@vscode/vsce";

const root = join(import.meta.dirname, "..");
/** Two bundles, one for Node and one for browsers, the web UI, the server, pictures, and the licences of others. */
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
 * The pictures of the documentation that it shows go along, so that the README shows them wherever it is read. Gives its path in the package.
 * @param {string} directory
 */
function packagedReadme(directory) {
  const pictures = join(root, "..", "..", "docs", "pictures");
  const text = readFileSync(join(root, "README.md"), "utf8");
  for (const picture of readdirSync(pictures).filter((file) => text.includes(`pictures/${file}`))) {
    mkdirSync(join(directory, "dist", "pictures"), { recursive: true });
    // Written, not copied: a copy has the mode of the original, and so has the archive.
    writeFileSync(join(directory, "dist", "pictures", picture), readFileSync(join(pictures, picture)));
  }
  writeFileSync(join(directory, "dist", "README.md"), text.replaceAll("../../docs/pictures/", "dist/pictures/"));
  return "dist/README.md";
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [directory, packagePath] = process.argv.slice(2);
  if (directory === undefined || packagePath === undefined) throw new Error("Name a directory and the VSIX to write.");
  process.umask(0o022);
  await makeVsix(resolve(directory), resolve(packagePath));
}
