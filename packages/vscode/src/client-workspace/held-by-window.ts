/**
 * True if this window holds the files: there is no disk that a server could share, or the server is on another machine.
 * @param baseUrl `gennai.baseUrl`; empty: a server of this machine
 */
export function isHeldByWindow({ baseUrl, hasDisk }: { readonly baseUrl: string; readonly hasDisk: boolean }): boolean {
  if (!hasDisk) return true;
  if (!URL.canParse(baseUrl)) return false;
  return !/^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(new URL(baseUrl).hostname);
}
