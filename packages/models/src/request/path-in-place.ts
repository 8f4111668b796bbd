/** The path before the query, which the address of a server may have (Azure: `?api-version=…`), and what was put behind that. */
export function withPathInPlace(url: string): string {
  return url.replace(/\/*\?([^/?]*)(\/[^?]*)\??(.*)$/, (_, query: string, path: string, more: string) =>
    [path, [query, more].filter((each) => each !== "").join("&")].join("?"),
  );
}
