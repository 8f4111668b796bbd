/** Where a window works: the extension host's machine. */
export interface Authority {
  /** `ssh-remote`, `wsl`, `dev-container` and the like; undefined: a local window. */
  readonly remoteName: string | undefined;
  /** The machine's own name. */
  readonly host: string;
}

/**
 * Name of a token in the secret storage. Secrets follow the user into every window, so a token is bound to the machine and the
 * server that it was given for: a window on another host never sends it.
 */
export function secretKey(authority: Authority, baseUrl: string): string {
  const { origin } = new URL(baseUrl);
  return `gennai.token:${JSON.stringify([authority.remoteName ?? "local", authority.host.toLowerCase(), origin])}`;
}
