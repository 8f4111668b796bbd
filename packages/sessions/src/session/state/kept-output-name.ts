const place = /^(?:\.\/)?@output\/([0-9a-f]{12})$/;

/** The name in a path to a kept output; undefined for all other paths. */
export function keptOutputName(path: string): string | undefined {
  return place.exec(path)?.[1];
}

/** The path under which a model finds it. */
export function keptOutputPath(sha256: string): string {
  return `@output/${keptOutputKey(sha256)}`;
}

export function keptOutputKey(sha256: string): string {
  return sha256.slice(0, 12);
}
