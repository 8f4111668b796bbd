// The program as it is shipped: the command line, the page that its server serves, and the page that checks an exported ledger.
import { basename, join, relative } from "node:path";
import { buildCommandLine } from "../../packages/cli/scripts/build.mjs";
import { buildLedgerPage } from "../../packages/ledger-page/scripts/build.mjs";
import { buildRepl } from "../../packages/repl/scripts/build.mjs";
import { root } from "./repository.mjs";

/**
 * @typedef {object} Program
 * @property {string} directory where it lies
 * @property {readonly string[]} files names of the command line's files
 * @property {readonly string[]} pageFiles names of what is in `page`
 * @property {readonly string[]} inputs paths relative to the repository of all that went in
 * @property {number} bytes of the command line
 */

/** @param {{ outDir: string }} options @returns {Promise<Program>} */
export async function buildProgram({ outDir }) {
  const { files, inputs, bytes } = await buildCommandLine({ outDir });
  const page = await buildRepl({ outDir: join(outDir, "page") });
  const ledgerPage = await buildLedgerPage({ outDir });
  const ofPages = [page, ledgerPage].flatMap(({ metafile }) => Object.keys(metafile.inputs));
  return {
    directory: outDir,
    files,
    pageFiles: page.files.map((file) => basename(file)),
    // esbuild names them from where it was started.
    inputs: [...inputs, ...ofPages.map((path) => relative(root, join(process.cwd(), path)))],
    bytes,
  };
}
