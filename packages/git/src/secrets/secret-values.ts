/** Characters. Shorter values occur in ordinary text. */
const shortest = 8;
/** Characters of a line that is no setting, e.g. of a key. */
const shortestLine = 16;
const longest = 512;

/**
 * The secret values in the text of a file that holds secrets: values of settings (`KEY=value`, `key: value`, `"key": "value"`),
 * passwords in addresses, and whole lines of anything else. Excludes common words (`development`, `localhost`).
 */
export function secretValues(text: string): readonly string[] {
  const values = new Set<string>();
  for (const line of text.split(/\r?\n/)) {
    const trimmed = line.trim();
    if (trimmed === "" || /^(?:#|\/\/\s|;|-----)/.test(trimmed)) continue;
    const [, equals, colon, raw] = setting.exec(trimmed) ?? [];
    const value = unquoted(raw ?? trimmed);
    const [, password] = /^[a-z][a-z0-9+.-]*:\/\/[^/\s:@]*:([^/\s@]+)@/i.exec(value) ?? [];
    if (password !== undefined) values.add(password);
    else if (raw === undefined ? value.length >= shortestLine : isSecret(equals ?? colon ?? "", value))
      values.add(value);
  }
  return [...values].filter(({ length }) => length >= shortest && length <= longest);
}

/** An equals sign separates name and value, or else a colon. */
const setting = /^(?:export\s+)?["']?(?:([\w./:@-]{1,200}?)\s*=|([\w./@-]{1,100}?)["']?\s*:(?!\/\/))\s*(.+?)[,;]?$/;

function isSecret(name: string, value: string): boolean {
  if (value.length < shortest || /^(?:true|false|null|undefined|\$\{?\w+\}?)$/i.test(value)) return false;
  if (/passw|passphrase|secret|token|key|auth(?!or)|cred|private|signature|salt|pin\b/i.test(name)) return true;
  // A mixture of letters and digits without separators is no address, path or name.
  return /[0-9]/.test(value) && /[A-Za-z]/.test(value) && !/[\s/:.]/.test(value);
}

function unquoted(value: string): string {
  const [, , inner] = /^(["'`])(.*)\1$/s.exec(value) ?? [];
  return inner ?? value.replace(/\s+#.*$/, "");
}
