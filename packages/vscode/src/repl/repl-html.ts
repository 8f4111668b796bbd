export interface ReplHtmlFacts {
  /** The webview's own source for `default` resources. */
  readonly cspSource: string;
  readonly script: string;
  readonly style: string;
  readonly title: string;
}

/** The REPL's page in a webview: one script with a nonce, one style sheet, no network. */
export function replHtml({ cspSource, script, style, title }: ReplHtmlFacts): string {
  const nonce = crypto.randomUUID().replaceAll("-", "");
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    // Inline styles are the sizes and positions of virtual lists; they can load nothing.
    `style-src ${cspSource} 'unsafe-inline'`,
    `font-src ${cspSource}`,
    `img-src ${cspSource} data: blob:`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escaped(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<link rel="stylesheet" href="${escaped(style)}">
</head>
<body>
<div id="app"></div>
<script nonce="${nonce}" type="module" src="${escaped(script)}"></script>
</body>
</html>
`;
}

/** The page if there is nothing to run: a sentence, and a link to a command. */
export function noticeHtml(notice: {
  readonly text: string;
  readonly command: string;
  readonly label: string;
}): string {
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>body{font:var(--vscode-font-size) var(--vscode-font-family);padding:1em}a{color:var(--vscode-textLink-foreground)}</style>
</head>
<body>
<p>${escaped(notice.text)}</p>
<p><a href="command:${escaped(encodeURI(notice.command))}">${escaped(notice.label)}</a></p>
</body>
</html>
`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
