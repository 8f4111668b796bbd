import { type PageFile, pageScript } from "./page-files.ts";

/** Facts for the page before it can make requests. No secrets: readable for everyone who reaches the port. */
export interface PageFacts {
  readonly version: string;
  /** False: the user chose `--no-auth`, and the page needs no link. */
  readonly authenticated: boolean;
}

/** The page that loads the app; or instructions to build it, if there are no files. */
export function pageHtml(files: readonly PageFile[], facts: PageFacts): string {
  return files.length === 0 ? notBuilt : appHtml(files, facts);
}

function appHtml(files: readonly PageFile[], { version, authenticated }: PageFacts): string {
  const styles = files.filter(({ name }) => name.endsWith(".css"));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="gennai-version" content="${escaped(version)}">
<meta name="gennai-auth" content="${authenticated ? "link" : "none"}">
<title>Gennai</title>
<link rel="icon" href="data:,">
${styles.map(({ name }) => `<link rel="stylesheet" href="/assets/${name}">`).join("\n")}
<script type="module" src="/assets/${pageScript}"></script>
</head>
<body>
<div id="app"></div>
<noscript>Gennai's page needs JavaScript.</noscript>
</body>
</html>
`;
}

const notBuilt = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Gennai</title>
<link rel="icon" href="data:,">
</head>
<body>
<h1>The page is not built</h1>
<p>This server runs from source. In the repository's directory, run <code>node packages/repl/scripts/build.mjs</code>, then start it again.</p>
<p><code>npm start</code> builds the page by itself.</p>
</body>
</html>
`;

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
