/**
 * Whether `path` is `directory` itself or lies below it, by their text: both absolute, or both relative to the same place, and
 * normalized. A path of Windows (`C:\…`, `\\server\…`) is compared in any case, with either slash.
 */
export function isWithin(path: string, { directory }: { readonly directory: string }): boolean {
  if (path === directory) return true;
  if (!ofWindows.test(directory)) return path.startsWith(directory.endsWith("/") ? directory : `${directory}/`);
  const [below, above] = [path, directory].map((one) => one.toLowerCase().replaceAll("\\", "/").replace(/\/+$/, ""));
  return below === above || below?.startsWith(`${above}/`) === true;
}

const ofWindows = /^(?:[a-z]:\\|\\\\)/i;
