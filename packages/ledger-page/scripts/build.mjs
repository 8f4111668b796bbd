// Bundles the page that checks an exported ledger into one HTML file, ledger-page.html: no server, no network, nothing beside it.
//
//   node packages/ledger-page/scripts/build.mjs     writes packages/ledger-page/dist
//   import { buildLedgerPage } from …               for those who package it
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";

const source = join(import.meta.dirname, "..", "src");

/**
 * @param {{ outDir?: string }} options
 * @returns {Promise<{ file: string, bytes: number, metafile: import("esbuild").Metafile }>}
 */
export async function buildLedgerPage({ outDir = join(import.meta.dirname, "..", "dist") } = {}) {
  const { outputFiles, metafile } = await build({
    entryPoints: [join(source, "main.ts"), join(source, "page.css")],
    outdir: outDir,
    bundle: true,
    format: "iife",
    platform: "browser",
    target: ["es2023", "chrome137", "firefox130", "safari17.4"],
    // Only ASCII: the hash of the script is that of its bytes, however the file is read.
    charset: "ascii",
    minify: true,
    sourcemap: false,
    legalComments: "none",
    metafile: true,
    write: false,
    logLevel: "error",
  });
  const text = (/** @type {string} */ ending) =>
    outputFiles.find(({ path }) => path.endsWith(ending))?.text.trim() ?? "";
  const html = pageOf(text(".js"), text(".css"));
  mkdirSync(outDir, { recursive: true });
  const file = join(outDir, "ledger-page.html");
  writeFileSync(file, html);
  return { file, bytes: Buffer.byteLength(html), metafile };
}

/** @param {string} script @param {string} style */
function pageOf(script, style) {
  if (/<\/(?:script|style)|<!--/i.test(script + style)) throw new Error("The page's own code would end its element.");
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(script)}'`,
    `style-src '${hashOf(style)}'`,
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>Check a Gennai ledger</title>
<style>${style}</style>
</head>
<body>
<noscript>This page checks signatures, for which it needs JavaScript. Or run: gennai ledger verify --bundle FILE</noscript>
<script>${script}</script>
</body>
</html>
`;
}

/** @param {string} text */
function hashOf(text) {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { file, bytes } = await buildLedgerPage();
  process.stdout.write(`${relative(process.cwd(), file)}  ${Math.round(bytes / 1024)} KB\n`);
}
