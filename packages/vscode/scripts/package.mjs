// Makes the VSIX: node scripts/package.mjs [directory to put it in]. All code is bundled, so that no dependency goes into it.
import { copyFileSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { buildExtension } from "./build.mjs";
import { makeVsix } from "./vsix.mjs";

const root = join(import.meta.dirname, "..");
const { name, version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

await buildExtension({ production: true });
copyFileSync(join(root, "..", "..", "LICENSE"), join(root, "LICENSE"));
const packagePath = join(resolve(process.argv[2] ?? root), `${name}-${version}.vsix`);
const { size } = await makeVsix(root, packagePath);
console.log(`${packagePath}  ${Math.round(size / 1024)} KB`);
