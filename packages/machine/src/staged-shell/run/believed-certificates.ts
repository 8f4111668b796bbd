import { keyDirectory } from "../../keys/git/key-git.ts";
import type { AddedLogin } from "../../network/added-login.ts";
import { usualAuthorities } from "../../network/usual-authorities.ts";
import type { RunMount } from "../../stage/staged-command.ts";

const file = `${keyDirectory}/authorities.crt`;

/**
 * Has the programs of one run believe an authority besides the usual ones and those of the user's. Each kind of them by its own name for
 * that; of several, all: package managers start each other.
 *
 * @param authority in PEM
 */
export function believing(
  authority: string | undefined,
  logins: readonly AddedLogin[],
): { readonly environment: Readonly<Record<string, string>>; readonly mounts: readonly RunMount[] } {
  if (authority === undefined) return { environment: {}, mounts: [] };
  const all = [...usualAuthorities(), ...logins.flatMap(({ trusted }) => trusted), authority];
  const text = `${[...new Set(all.map((one) => one.trim()))].join("\n")}\n`;
  return {
    environment: Object.fromEntries(variables.map((name) => [name, file])),
    mounts: [{ path: file, text }],
  };
}

/** Most of them take the place of what a program believes by itself. */
const variables: readonly string[] = [
  ..."NODE_EXTRA_CA_CERTS npm_config_cafile pnpm_config_cafile YARN_HTTPS_CA_FILE_PATH".split(" "),
  ..."CARGO_HTTP_CAINFO PIP_CERT REQUESTS_CA_BUNDLE CURL_CA_BUNDLE SSL_CERT_FILE".split(" "),
];
