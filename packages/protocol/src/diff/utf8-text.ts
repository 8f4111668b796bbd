/** The text of bytes, with its byte-order mark; undefined if they are not UTF-8. */
export function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** The same; undefined also with a NUL, by which git and others tell what is no text. */
export function textWithoutNul(bytes: Uint8Array): string | undefined {
  const text = utf8Text(bytes);
  return text?.includes("\0") === true ? undefined : text;
}
